"""A holder of locks that is redis-py's Lock, on one server. lines.mjs says how it is driven, and what the answers are; besides:

    acquire NAME 0      without an end
    wait NAME TTL       its own blocking: it asks again every 20 ms
    add TTL             extends as its extend() does by itself: by so much more
    reacquire           extends to the ttl that it was acquired with
    release_elsewhere   from another thread        refused | released T

    redis_py.py PORT    of the server on 127.0.0.1
"""
import sys
import threading
import time

from redis import Redis
from redis.exceptions import LockError, LockNotOwnedError, ResponseError
from redis.lock import Lock

server = Redis(host='127.0.0.1', port=int(sys.argv[1]))
server.ping()


class Holder:
    lock = None

    def acquire(self, name, ttl, blocking=False):
        lock = Lock(server, name, timeout=int(ttl) / 1000 or None, sleep=0.02)
        if not lock.acquire(blocking=blocking):
            return 'refused'
        self.lock = lock
        return f'held {time.monotonic_ns()}'

    def wait(self, name, ttl):
        return self.acquire(name, ttl, blocking=True)

    def extended(self, operation, *arguments, **options):
        try:
            operation(*arguments, **options)
        except LockNotOwnedError:
            return 'lost'
        return f'extended {time.monotonic_ns()}'

    def extend(self, ttl):
        return self.extended(self.lock.extend, int(ttl) / 1000, replace_ttl=True)

    def add(self, ttl):
        return self.extended(self.lock.extend, int(ttl) / 1000)

    def reacquire(self):
        return self.extended(self.lock.reacquire)

    def release(self):
        before = time.monotonic_ns()
        try:
            self.lock.release()
        except LockNotOwnedError:
            return f'unconfirmed {before}'
        except ResponseError as error:
            if 'WRONGTYPE' not in str(error):
                raise
            return f'wrongtype {before}'
        return f'released {before}'

    def release_elsewhere(self):
        answers = []

        def other():
            try:
                answers.append(self.release())
            except (LockError, AttributeError):  # there is no token in this thread, not even None (4.3.4)
                answers.append('refused')

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        return answers[0]


holder = Holder()
print('ready', flush=True)
for line in sys.stdin:
    verb, *rest = line.split()
    if verb == 'quit':
        break
    print(getattr(holder, verb)(*rest), flush=True)
