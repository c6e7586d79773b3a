"""Pack the synthetic tables of the corpus into one small file, and unpack them.

    python benchmarks/generators/archive.py pack releases    # writes releases.tar.xz beside this
    python benchmarks/generators/archive.py unpack releases  # makes the files that make.py would

Codes and numbers are stored as text, whose archive is three times smaller than a folder of Parquet
files. The archive also contains the results of the oracle as oracle.jsonl.
"""

from __future__ import annotations

import argparse
import io
import tarfile
from pathlib import Path

import pandas as pd

ARCHIVE = Path(__file__).with_name("releases.tar.xz")
ORACLE = "oracle.jsonl"


def pack(folder: Path) -> None:
    """Write the tables of a folder and the results of the oracle to the archive."""
    with tarfile.open(ARCHIVE, "w:xz", preset=9) as archive:
        for path in sorted([*folder.glob("*.parquet"), folder / ORACLE]):
            content = path.read_bytes()
            if path.suffix == ".parquet":
                content = pd.read_parquet(path).to_csv(index=False).encode()
            entry = tarfile.TarInfo(path.name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def unpack(folder: Path) -> None:
    """Write the files of the archive to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(ARCHIVE) as archive:
        for entry in archive:
            content, target = archive.extractfile(entry).read(), folder / Path(entry.name).name
            if target.suffix == ".parquet":
                release = pd.read_csv(io.BytesIO(content))
                kinds = {"i": "int32", "f": "float32"}
                release = release.astype({c: kinds[release[c].dtype.kind] for c in release})
                release.to_parquet(target, compression="zstd", index=False)
            else:
                target.write_bytes(content)


def main() -> None:
    """Pack or unpack."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("pack", "unpack"))
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    (pack if options.what == "pack" else unpack)(options.folder)


if __name__ == "__main__":
    main()
