// A holder of locks that is nobody's library: ioredis, SET NX PX, and scripts that look at the value first, on one server. lines.mjs says
// how it is driven.
//
//     node recipe.mjs FOLDER PORT     FOLDER: where its packages are installed; PORT: of the server on 127.0.0.1
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { serve } from './lines.mjs';

const [folder, port] = process.argv.slice(2);
const require = createRequire(resolve(folder, 'package.json'));
const { default: Redis } = require('ioredis');

const server = new Redis({ host: '127.0.0.1', port: Number(port) });
await server.ping();

const if_mine = (then) => `if redis.call('GET', KEYS[1]) == ARGV[1] then return ${then} end return 0`;
const extend = if_mine("redis.call('PEXPIRE', KEYS[1], ARGV[2])");
const release = if_mine("redis.call('DEL', KEYS[1])");

let held;

await serve({
  async acquire(name, ttl) {
    const value = randomBytes(20).toString('hex');
    if (await server.set(name, value, 'PX', ttl, 'NX') !== 'OK') return false;
    held = { name, value };
    return true;
  },
  extend: async (ttl) => await server.eval(extend, 1, held.name, held.value, ttl) === 1,
  release: async () => await server.eval(release, 1, held.name, held.value) === 1,
});
