"""Statistics of records in many files with Dask: made, read and grouped by the workers of all nodes."""

import argparse
import asyncio
import json
import os
import random
import statistics
from pathlib import Path

import dask
import dask.bag
from distributed import Client, Scheduler, Worker


def measure(folder: Path, number: int, records: int, seed: int) -> Path:
    """A file of made-up temperatures: station n has n degrees on average."""
    dice = random.Random(f"{seed}/{number}")
    rows = ({"station": (n := dice.randrange(10)), "degrees": dice.gauss(n, 1)} for _ in range(records))
    file = folder / f"{number:05}.jsonl"
    partial = file.with_suffix(".partial")
    partial.write_text("".join(json.dumps(row) + "\n" for row in rows))
    partial.replace(file)
    return file


async def lead(options: argparse.Namespace, scheduler_file: Path, workers: int) -> None:
    async with (
        Scheduler(scheduler_file=str(scheduler_file), dashboard=False) as scheduler,
        Client(scheduler.address, asynchronous=True) as client,
    ):
        await client.wait_for_workers(workers)
        options.folder.mkdir(parents=True, exist_ok=True)
        made = [
            dask.delayed(measure)(options.folder, number, options.records, options.seed)
            for number in range(options.files)
        ]
        files = await client.gather(client.compute(made))
        rows = dask.bag.read_text([str(file) for file in files], files_per_partition=4).map(json.loads)
        grouped = rows.groupby(lambda row: row["station"], shuffle="tasks")
        means = grouped.map(lambda group: (group[0], statistics.fmean(row["degrees"] for row in group[1])))
        for station, mean in sorted(await client.compute(means)):
            print(f"station {station}: {mean:.3f}")
        hosts = {worker.host for worker in scheduler.workers.values()}
        print(f"{len(files)} files, {workers} workers on {len(hosts)} nodes", flush=True)
        await client.retire_workers()


async def follow(scheduler_file: Path) -> None:
    while not scheduler_file.exists():
        await asyncio.sleep(0.2)
    async with Worker(scheduler_file=str(scheduler_file), nthreads=len(os.sched_getaffinity(0))) as worker:
        await worker.finished()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=64)
    parser.add_argument("--records", type=int, default=10000, help="in each file")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=Path("records"))
    options = parser.parse_args()
    scheduler_file = Path(os.environ["SCHEDULER_FILE"])
    workers = int(os.environ["SLURM_NTASKS"]) - 1
    leads = os.environ["SLURM_PROCID"] == "0"
    asyncio.run(lead(options, scheduler_file, workers) if leads else follow(scheduler_file))


if __name__ == "__main__":
    main()
