"""Encode a corpus on many processes or machines, with Ray.

This process reads the corpus and distributes parts; each worker has the checkpoint, encodes a part
with the same function as a single process, and writes it. Parts finish in any order; the manifest
lists them in the order of the corpus. A worker that dies is restarted together with its part, so a
part may be written twice, complete both times. Nothing needs to be held or ordered by Ray Data
here, so Ray Core suffices: actors, retried calls.
"""

import importlib.util
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bertcore.analysis.corpus.parts import PartContent, check_checkpoint, read_manifest
from bertcore.analysis.corpus.run import PartRun, PartTexts, encode_share, not_written

LOCAL = "local"
_PARTS_AHEAD = 2  # parts assigned to each worker: one that runs, and one that waits
_PATIENCE_SECONDS = 10.0  # seconds until an address counts as not answering


@dataclass(frozen=True, slots=True)
class Cluster:
    """The location of the workers."""

    address: str = LOCAL
    """"local": processes of this machine; else host:port of a running Ray cluster, or "auto"."""
    num_workers: int | None = None
    """None: one for each GPU, or for each processor core if there is none."""

    def __post_init__(self) -> None:
        if self.num_workers is not None and self.num_workers < 1:
            raise ValueError(f"num_workers is {self.num_workers}; expected at least 1.")


class ClusterRun(PartRun):
    """Workers of a Ray cluster encode and write; this process reads and maintains the manifest."""

    def __init__(self, cluster: Cluster, *of_run: Any) -> None:
        super().__init__(*of_run)
        self.cluster = cluster
        self.running: dict[Any, tuple[Any, PartTexts]] = {}
        """Call -> its worker and part."""
        self.finished: dict[int, tuple[PartContent, PartTexts]] = {}
        """Parts on the disk before which another one is missing."""

    def go(self) -> bool:
        """Encode the rest; return whether it reached the end."""
        with connected(self.cluster) as ray:
            free = self._workers(ray)
            for share in self.shares():
                if self.watch.should_stop():
                    break
                while not free:
                    free.append(self._next(ray))
                worker = free.pop(0)
                call = worker.encode.remote(share)
                self.running[call] = worker, share
            else:
                while self.running:
                    self._next(ray)
                return True
            while self.running:  # assigned parts are soon done
                self._next(ray)
        return False

    def _workers(self, ray: Any) -> list[Any]:
        """Return the workers, each as often as parts may wait for it."""
        resources = ray.cluster_resources()
        num_gpus, num_cpus = int(resources.get("GPU", 0)), int(resources.get("CPU", 0))
        num = self.cluster.num_workers or num_gpus or num_cpus
        options = {"num_gpus": 1, "num_cpus": 1} if num_gpus else {"num_cpus": 1}
        available = num_gpus or num_cpus
        if num > available:
            what = "GPUs" if num_gpus else "processor cores"
            raise ValueError(
                f"{num} workers were requested, but the cluster has {available} {what}. Request "
                f"at most {available}."
            )
        actor = ray.remote(max_restarts=-1, max_task_retries=-1, **options)(Worker)
        arguments = str(self.folder.absolute()), self.manifest.fingerprint, self.corpus.fields
        workers = [actor.remote(*arguments) for _ in range(num)]
        return workers * _PARTS_AHEAD

    def _next(self, ray: Any) -> Any:
        """Wait for a part; commit finished parts; return the free worker."""
        (call,), _ = ray.wait(list(self.running), num_returns=1)
        worker, share = self.running.pop(call)
        try:
            part = ray.get(call)
        except ray.exceptions.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, OSError):
                raise not_written(len(self.manifest.parts), self.folder, cause) from error
            if isinstance(cause, ValueError | RuntimeError):
                raise type(cause)(str(cause)) from error
            raise
        self.finished[share.number] = part, share
        while (number := len(self.manifest.parts)) in self.finished:
            part, share = self.finished.pop(number)
            self.num_tokens += part.tokens
            self.commit(part)
            self.report(self.fraction(share.span, 1.0), self.num_tokens)
        return worker


class Worker:
    """One process with the checkpoint, created by Ray and recreated if it dies.

    `folder`, of the encoded corpus, is on a disk that all machines see. ValueError if it is not
    visible here, or the checkpoint's fingerprint differs.
    """

    def __init__(self, folder: str, fingerprint: str, fields: Any) -> None:
        from bertcore.analysis.corpus.batch import in_format
        from bertcore.configs.numbers import DTYPES
        from bertcore.model.loading import load

        self.folder, self.fields = Path(folder), fields
        self.problem: str | None = None
        here = socket.gethostname()
        try:
            self.manifest = read_manifest(self.folder)
            if self.manifest.fingerprint != fingerprint:
                raise ValueError("it is another one there")
            model = load(self.manifest.checkpoint)
            check_checkpoint(self.manifest, model, f"{folder!r}")
        except (ValueError, OSError, RuntimeError) as error:
            # Reported by the first call: a failing constructor would be restarted forever.
            self.problem = (
                f"a worker on {here} cannot take part: {error} The folder {folder!r} and the "
                "checkpoint must be on a disk that all machines mount at the same path."
            )
            return
        settings = self.manifest.settings
        self.settings = settings
        dtype = self.manifest.dtype if self.manifest.dtype in DTYPES else settings.dtype
        self.model, _ = in_format(model, dtype)

    def encode(self, share: PartTexts) -> PartContent:
        if self.problem is not None:
            raise ValueError(self.problem)
        found = encode_share(self.model, share, self.manifest.layers, self.settings)
        return found.write(self.folder, self.fields)


@contextmanager
def connected(cluster: Cluster) -> Iterator[Any]:
    """Yield Ray, connected to the cluster, and disconnect at the end.

    ValueError if the cluster cannot be joined.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray would report its use
    import ray

    if cluster.address == LOCAL:
        options: dict[str, Any] = {"address": "local", "include_dashboard": False}
        if cluster.num_workers is not None:
            options["num_cpus"] = cluster.num_workers
    else:
        options = {"address": cluster.address}
    try:
        ray.init(log_to_driver=False, logging_level="ERROR", **options)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ValueError(
            f"the Ray cluster {cluster.address!r} cannot be joined "
            f"({' '.join(str(error).split())[:200]}). Check the address with `ray status`."
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def check_cluster(cluster: Cluster) -> None:
    """Check, before any work is done, that Ray is installed and something listens at the address.

    ValueError if Ray is not installed, the address is invalid, or nothing answers there.
    """
    if importlib.util.find_spec("ray") is None:
        raise ValueError(
            "Ray, which a cluster needs, is not installed. Install it with: pip install "
            "'bertscope[scale]'; or leave --cluster out."
        )
    address = cluster.address
    if address in (LOCAL, "auto"):
        return
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdecimal():
        raise ValueError(
            f"--cluster is {address!r}; expected 'local', 'auto', or host:port of a Ray cluster, "
            "such as 10.0.0.1:6379."
        )
    try:
        socket.create_connection((host, int(port)), timeout=_PATIENCE_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise ValueError(
            f"nothing answers at {address!r} ({error}). Start Ray there (`ray start --head`), or "
            "check the address."
        ) from error
