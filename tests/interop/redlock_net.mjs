// What RedLock.net 2.3.2 does to its servers, without .NET: the key is `redlock:NAME`, the value a GUID, an extension sets keys that are gone.
// Read in its RedLock.cs and Lua/. lines.mjs says how it is driven.
//
//     node redlock_net.mjs FOLDER PORT...     FOLDER: where ioredis is installed; PORT: of the servers on 127.0.0.1
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { serve } from './lines.mjs';

const [folder, ...ports] = process.argv.slice(2);
const require = createRequire(resolve(folder, 'package.json'));
const { default: Redis } = require('ioredis');

const servers = ports.map((port) => new Redis({ host: '127.0.0.1', port: Number(port) }));
await Promise.all(servers.map((server) => server.ping()));

const extend = `local found = redis.call('GET', KEYS[1])
if not found then return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) and 1 or 0 end
return found == ARGV[1] and redis.call('PEXPIRE', KEYS[1], ARGV[2]) or -1`;
const unlock = `return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0`;

// All at once; all answers are waited for. An error of a server is no vote.
async function by_majority(ask, yes) {
  const answers = await Promise.all(servers.map((server) => ask(server).catch(() => null)));
  return answers.filter((answer) => answer === yes).length > servers.length / 2;
}
const script = (text, { key, id }, ...rest) => by_majority((server) => server.eval(text, 1, key, id, ...rest), 1);

let held;

await serve({
  async acquire(name, ttl) {
    const mine = { key: `redlock:${name}`, id: randomUUID() };
    if (!await by_majority((server) => server.set(mine.key, mine.id, 'PX', ttl, 'NX'), 'OK')) {
      await script(unlock, mine);
      return false;
    }
    held = mine;
    return true;
  },
  extend: (ttl) => script(extend, held, ttl),
  release: () => script(unlock, held),
});
