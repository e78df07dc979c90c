// A holder of locks that is node-redlock, driven by lines on its input:
//
//     node holder.mjs FOLDER PORT...     FOLDER: where its packages are installed; PORT: of the servers on 127.0.0.1
//
//     acquire NAME TTL    asks once                  held T | refused
//     wait NAME TTL       until it is acquired       held T
//     extend TTL                                     extended T | lost
//     release                                        released T | unconfirmed T
//     quit
//
// It says "ready" when it is connected. T is CLOCK_MONOTONIC in nanoseconds: after an acquisition, after an extension, before a release.
// "released" comes when every server has answered, so that nothing is under way any more.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const [folder, ...ports] = process.argv.slice(2);
const require = createRequire(resolve(folder, 'package.json'));
const { default: Redis } = require('ioredis');
const { default: Redlock, ExecutionError } = require('redlock');

const servers = ports.map((port) => new Redis({ host: '127.0.0.1', port: Number(port) }));

// Its own retries do not undo what was granted before, so that two waiters can block each other until the ttl ends. Here every attempt
// is a call of its own.
const redlock = new Redlock(servers, { retryCount: 0 });
const scripts = Object.values(redlock.scripts).map((script) => script.value);
await Promise.all(servers.flatMap((server) => scripts.map((text) => server.script('LOAD', text))));

const now = () => process.hrtime.bigint();
let lock;

async function succeeds(operation) {
  try {
    await operation();
    return true;
  } catch (error) {
    if (error instanceof ExecutionError) return false;
    throw error;
  }
}

async function acquire(name, ttl) {
  const held = await succeeds(async () => { lock = await redlock.acquire([name], Number(ttl)); });
  return held ? `held ${now()}` : 'refused';
}

const commands = {
  acquire,
  async wait(name, ttl) {
    for (;;) {
      const answer = await acquire(name, ttl);
      if (answer !== 'refused') return answer;
      await sleep(5 + 15 * Math.random());
    }
  },
  async extend(ttl) {
    const extended = await succeeds(async () => { lock = await lock.extend(Number(ttl)); });
    return extended ? `extended ${now()}` : 'lost';
  },
  async release() {
    const before = now();
    const released = await succeeds(async () => Promise.all((await lock.release()).attempts));
    return `${released ? 'released' : 'unconfirmed'} ${before}`;
  },
  quit: () => process.exit(0),
};

console.log('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const [verb, ...rest] = line.split(' ');
  console.log(await commands[verb](...rest));
}
process.exit(0);
