// How the holders of locks are driven by lines on their input:
//
//     acquire NAME TTL    asks once                  held T | refused
//     wait NAME TTL       until it is acquired       held T
//     extend TTL                                     extended T | lost
//     release                                        released T | unconfirmed T | wrongtype T
//     quit
//
// They say "ready" when they are connected. T is CLOCK_MONOTONIC in nanoseconds: after an acquisition, after an extension, before a release.
// "wrongtype": the server's error reached the caller. "released" comes when every server has answered, so that nothing is under way any more.
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const now = () => process.hrtime.bigint();

// `holder`: `acquire(name, ttl)`, `extend(ttl)` and `release()`, each of which tells whether it succeeded.
export async function serve(holder) {
  const acquire = async (name, ttl) => (await holder.acquire(name, Number(ttl)) ? `held ${now()}` : 'refused');
  const commands = {
    acquire,
    async wait(name, ttl) {
      for (;;) {
        const answer = await acquire(name, ttl);
        if (answer !== 'refused') return answer;
        await sleep(5 + 15 * Math.random());
      }
    },
    extend: async (ttl) => (await holder.extend(Number(ttl)) ? `extended ${now()}` : 'lost'),
    async release() {
      const before = now();
      try {
        return `${await holder.release() ? 'released' : 'unconfirmed'} ${before}`;
      } catch (error) {
        if (!error.message.includes('WRONGTYPE')) throw error;
        return `wrongtype ${before}`;
      }
    },
    quit: () => process.exit(0),
  };

  console.log('ready');
  for await (const line of createInterface({ input: process.stdin })) {
    const [verb, ...rest] = line.split(' ');
    console.log(await commands[verb](...rest));
  }
  process.exit(0);
}
