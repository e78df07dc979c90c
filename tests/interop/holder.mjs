// A holder of locks that is node-redlock. lines.mjs says how it is driven; NAME may be several names with commas between them.
//
//     node holder.mjs FOLDER PORT...     FOLDER: where its packages are installed; PORT: of the servers on 127.0.0.1
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { serve } from './lines.mjs';

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

await serve({
  acquire: (name, ttl) => succeeds(async () => { lock = await redlock.acquire(name.split(','), ttl); }),
  extend: (ttl) => succeeds(async () => { lock = await lock.extend(ttl); }),
  release: () => succeeds(async () => Promise.all((await lock.release()).attempts)),
});
