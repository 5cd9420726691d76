#!/usr/bin/env python3
"""The capacity that `weigh load --find-capacity` finds of servers whose queue is known, alone and beside busy loops that take all processors.

A server here answers when its simulated servers would have, so that only the generator and the sending of answers share the processors. The true capacity
follows from a long simulation of the same queue. Usage: capacity.py PROGRAM [SECONDS of each search] [BUSY loops]"""

import asyncio
import heapq
import json
import multiprocessing
import random
import subprocess
import sys

LIMIT = 0.1
SERVICE = 0.001
# Name: servers, whether service times are exponential, the arrivals, and the requests that are served cold, ten times as slowly.
QUEUES = {
    "D/D/1": (1, False, "constant", 0),
    "M/D/1": (1, False, "poisson", 0),
    "M/D/4": (4, False, "poisson", 0),
    "M/M/2": (2, True, "poisson", 0),
    "warming": (1, False, "poisson", 2000),
}


class Queue:
    def __init__(self, name, seed=0):
        self.servers, self.is_exponential, self.arrivals, self.cold = QUEUES[name]
        self.draw, self.free, self.served = random.Random(seed), [0.0] * self.servers, 0

    def end(self, now):
        """When a request that comes now is answered."""
        service = SERVICE * self.servers * (self.draw.expovariate(1) if self.is_exponential else 1)
        service *= 10 if self.served < self.cold else 1
        self.served += 1
        end = max(heapq.heappop(self.free), now) + service
        heapq.heappush(self.free, end)
        return end

    def keeps(self, rate, requests=200_000):
        now, over = 0.0, 0
        for _ in range(requests):
            over += self.end(now) - now > LIMIT
            now += (self.draw.expovariate(1) if self.arrivals == "poisson" else 1) / rate
        return over < 0.01 * requests


def knee(name):
    low, high = 0.1 / SERVICE, 1 / SERVICE
    for _ in range(8):
        middle, queue = (low + high) / 2, Queue(name)
        queue.cold = 0
        low, high = (middle, high) if queue.keeps(middle) else (low, middle)
    return low


async def serve(name, told):
    queue, loop = Queue(name, 1), asyncio.get_running_loop()

    async def connection(reader, writer):
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                end = queue.end(loop.time())
                await asyncio.sleep(end - loop.time())
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(connection, "127.0.0.1", 0, backlog=1024)
    told.put(server.sockets[0].getsockname()[1])
    await server.serve_forever()


def run_server(name, told):
    asyncio.run(serve(name, told))


def spin():
    while True:
        pass


def found(program, name, seconds):
    told = multiprocessing.Queue()
    server = multiprocessing.Process(target=run_server, args=(name, told), daemon=True)
    server.start()
    command = [program, "load", f"http://127.0.0.1:{told.get()}/", "--find-capacity", f"p99={LIMIT * 1000:.0f}ms", "-d", f"{seconds}s", "--arrival", QUEUES[name][2], "--json"]
    out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    server.terminate()
    try:
        return json.loads(out.stdout)["capacity"]
    except (ValueError, KeyError):
        return {"ended": (out.stderr.strip().splitlines() or ["no answer"])[-1], "steps": []}


def main():
    program, seconds, busy = sys.argv[1], int((sys.argv + ["36"])[2]), int((sys.argv + ["36", "2"])[3])
    loops = [multiprocessing.Process(target=spin, daemon=True) for _ in range(busy)]
    [loop.start() for loop in loops]
    print(f"p99 within {LIMIT * 1000:.0f} ms, {seconds} s for each search, beside {busy} busy loops\n")
    print("| Queue | True capacity | Held | Not held | Ended | Steps: generator, cold |\n|---|---|---|---|---|---|", flush=True)
    for name in QUEUES:
        true, capacity = knee(name), found(program, name, seconds)
        off = [f"{capacity[end]:.0f} ({capacity[end] / true - 1:+.1%})" if capacity.get(end) else "–" for end in ("held", "over")]
        said = [sum(step["verdict"] == word for step in capacity["steps"]) for word in ("generator", "cold")]
        print(f"| {name} | {true:.0f} | {off[0]} | {off[1]} | {capacity['ended']} | {said[0]}, {said[1]} of {len(capacity['steps'])} |", flush=True)
    [loop.terminate() for loop in loops]


if __name__ == "__main__":
    main()
