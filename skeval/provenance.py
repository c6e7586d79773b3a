"""What an evaluation was made of: versions, parameters, seeds and hashes of the tables."""

from skeval.results.calls import call_of, constructor, described
from skeval.results.hashes import hash_of_cells
from skeval.results.provenance import ColumnRecord, InputRecord, Provenance, stamp
from skeval.results.verification import verify
from skeval.utils.foreign_files import hash_of_file

__all__ = [
    "ColumnRecord",
    "InputRecord",
    "Provenance",
    "call_of",
    "constructor",
    "described",
    "hash_of_cells",
    "hash_of_file",
    "stamp",
    "verify",
]
