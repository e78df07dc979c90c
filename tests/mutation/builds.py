"""Programs with one file of theirs replaced: compiled and linked by the commands of a build that exists."""
import json
import os
import shlex
import shutil
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

SERVERS_AT_ONCE = 4     # cases of one program that start servers, and wait most of the time


@dataclass(frozen=True)
class Suite:
    """Of a program, the cases below one name."""
    program: str                # from the root of the build
    name: str
    calls: tuple[tuple[str, ...], ...]      # arguments of each process

    def key(self) -> str:
        return self.program.rsplit("/", 1)[-1] + (f"/{self.name}" if self.name else "")


class NotCompiled(Exception):
    pass


def is_several(source: Path) -> bool:
    """CMake's: sources that are compiled as one."""
    return source.name.startswith("unity_") and source.suffix == ".cxx"


def included(several: Path) -> list[str]:
    return [line.split('"')[1] for line in several.read_text().splitlines() if line.startswith("#include")]


def run(command: list[str], folder: Path, seconds: float, more: dict[str, str]) -> str:
    """Empty: it ended well. Otherwise how it ended."""
    process = subprocess.Popen(command, cwd=folder, env=os.environ | more, start_new_session=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        code = process.wait(seconds)
        return f"ended with {code}" if code else ""
    except subprocess.TimeoutExpired:
        return f"not ended after {seconds:.0f} s"
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)      # and what it left behind
        except ProcessLookupError:
            pass
        process.wait()


def run_suite(suite: Suite, program: Path, folder: Path, seconds: float, more: dict[str, str], to_the_end: bool = False) -> list[tuple[tuple[str, ...], str]]:
    """What failed, and how: the first, or all."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    deadline = time.monotonic() + seconds
    failed: list[tuple[tuple[str, ...], str]] = []

    def one(arguments: tuple[str, ...]) -> None:
        if failed and not to_the_end:
            return
        how = run([str(program), *arguments], folder, max(1.0, deadline - time.monotonic()), more)
        if how:
            failed.append((arguments, how))

    if len(suite.calls) == 1:
        one(suite.calls[0])
    else:
        with ThreadPoolExecutor(SERVERS_AT_ONCE) as pool:
            list(pool.map(one, suite.calls))
    return failed


class Build:
    def __init__(self, root: Path, folder: Path):
        self.root = root
        self.folder = folder
        self.compiled: dict[str, list[str]] = {}        # by object
        self.linked: dict[str, list[str]] = {}
        self.members: dict[str, set[str]] = {}          # objects, by archive
        for line in (folder / "build.ninja").read_text().splitlines():
            if line.startswith("build ") and ".a: " in line:
                archive, _, rest = line[len("build "):].partition(": ")
                self.members[archive] = {word for word in rest.split() if word.endswith(".o")}
        self.pieces: dict[str, list[str]] = {}          # sources, by the object that they are compiled into together
        for entry in json.loads((folder / "compile_commands.json").read_text()):
            words = shlex.split(entry["command"])
            made, source = words[words.index("-o") + 1], Path(words[words.index("-c") + 1])
            self.compiled[made] = words
            if is_several(source):
                self.pieces[made] = included(source)

    def link_command(self, program: str) -> list[str]:
        if program not in self.linked:
            shown = subprocess.run(["ninja", "-C", str(self.folder), "-t", "commands", "-s", program], capture_output=True, text=True,
                                   check=True).stdout.strip().splitlines()[-1]
            words = next(shlex.split(part) for part in shown.split(" && ") if " -o " in part)
            self.linked[program] = words
        return self.linked[program]

    def compile(self, made: str, file: str, text: bytes, scratch: Path) -> Path:
        """The object `made`, where `file` has another text."""
        changed = scratch / "tree" / file
        changed.parent.mkdir(parents=True, exist_ok=True)
        changed.write_bytes(text)
        words = [w for w in self.compiled[made] if w != "--coverage"]
        while "ccache" in words[0]:
            words.pop(0)
        source = words[words.index("-c") + 1]
        to = scratch / (made.replace("/", "_"))
        words[words.index("-o") + 1] = str(to)
        if source == str(self.root / file):
            words[words.index("-c") + 1] = str(changed)
        elif made in self.pieces and str(self.root / file) in self.pieces[made]:       # alone: link() puts it before the others
            words[words.index("-c") + 1] = str(changed)
            words += ["-O0", "-g0"]
        else:       # a header: before the one that it stands for, and not in what is compiled already
            while "-include" in words:
                at = words.index("-include")
                del words[at:at + 2]
            words = [w for w in words if w not in ("-Winvalid-pch", "-fpch-preprocess")]
            words[1:1] = [f"-I{scratch / 'tree' / top}" for top in ("include", "src", "tests")]
        done = subprocess.run([*words, "-w"], cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NotCompiled(done.stderr[-400:])
        return to

    def link(self, program: str, objects: dict[str, Path], scratch: Path) -> Path:
        """The program with these objects in place of its own; the one that is there if it has none of them."""
        words = list(self.link_command(program))
        archived: set[str] = set().union(*(self.members.get(word, set()) for word in words))
        first = []
        for made, replaced in objects.items():
            if made in words and made not in self.pieces:
                words[words.index(made)] = str(replaced)
            elif made in words or made in archived:       # what comes first counts
                first.append(str(replaced))
        if words == self.link_command(program) and not first:
            return self.folder / program
        to = scratch / program.replace("/", "_")
        words[words.index("-o") + 1] = str(to)
        words[1:1] = [*first, "-Wl,-z,muldefs"]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NotCompiled(done.stderr[-400:])
        return to
