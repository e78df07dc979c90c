// node-redlock at the same work:
//
//     node node_redlock.mjs FOLDER CALLERS WARM_UP_SECONDS SECONDS PREFIX PORT...
//
// FOLDER: where its packages are installed. Each caller acquires and releases a name of its own all the time. It writes one line of JSON: pairs,
// seconds, and the CPU time of the process (process.cpuUsage) in microseconds.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const [folder, callers, warmUp, seconds, prefix, ...ports] = process.argv.slice(2);
const require = createRequire(resolve(folder, 'package.json'));
const { default: Redis } = require('ioredis');
const { default: Redlock } = require('redlock');

const servers = ports.map((port) => new Redis({ host: '127.0.0.1', port: Number(port) }));
const redlock = new Redlock(servers, { retryCount: 0 });
const scripts = Object.values(redlock.scripts).map((script) => script.value);
await Promise.all(servers.flatMap((server) => scripts.map((text) => server.script('LOAD', text))));

let pairs = 0;
let waits = [];

async function call(name) {
  for (;;) {
    const asked = performance.now();
    const lock = await redlock.acquire([name], 10_000);
    waits.push(performance.now() - asked);
    await lock.release();
    ++pairs;
  }
}

for (let i = 0; i < Number(callers); ++i) {
  call(`${prefix}:${i}`).catch((error) => {
    console.error(error);
    process.exit(1);
  });
}
await sleep(Number(warmUp) * 1000);
pairs = 0;
waits = [];
const cpuBefore = process.cpuUsage();
const began = performance.now();
await sleep(Number(seconds) * 1000);
const cpu = process.cpuUsage(cpuBefore);
const lasted = (performance.now() - began) / 1000;
waits.sort((a, b) => a - b);
const at = (fraction) => 1000 * waits[Math.floor(fraction * (waits.length - 1))];
console.log(JSON.stringify({ pairs, seconds: lasted, user_us: cpu.user, system_us: cpu.system, p50_us: at(0.5), p99_us: at(0.99) }));
process.exit(0);
