#!/usr/bin/env python3
"""Compares what some 290 commands of bin/flowlag print, write and return with what they did before.

    tests/frozen.py [--write] [--keep DIR] [NAME...]

Each line of frozen.txt holds one command: exit code, and digests of standard output, standard error, IPFIX records and statistics.
Dates, durations and paths are masked; options records and the bounds of messages depend on the time and are left out. With --keep
the masked outputs stay in DIR, so that two states can be compared by diff -r. With --write the digests become the new ones. NAME
picks the commands that contain it. Captures come from ../shared, or from the directory that FLOWLAG_SHARED names. Exit code 1:
something differs, or a command that measures was refused.
"""
import concurrent.futures
import hashlib
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FROZEN = pathlib.Path(__file__).with_suffix(".txt")
CAPTURES = pathlib.Path(os.environ.get("FLOWLAG_SHARED", ROOT.parent / "shared")) / "data/captures"
# Of the commands that measure, those that are wrong on purpose.
REFUSED = {"meter-options-18", "collect-none", "collect-no-ipfix"}
MASKS = [
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]*Z?"), "<time>"),
    (re.compile(r"\(commit \w+, Java [\d._]+\)"), "(commit <any>, Java <any>)"),
    (re.compile(r"collect: \d+ messages, \d+ records"), "collect: <any>"),
    (re.compile(r"of \d+ MiB of memory"), "of <any> MiB of memory"),
    (re.compile(r"one was received 0\.\d+ s"), "one was received <any> s"),
    (re.compile(r'"(start_time_ms|now_ms|took_ns|messages|octets|options_records)" : \d+'), r'"\1" : <any>'),
]


def pair(directory, seed, count=20000):
    """Writes two captures of the same packets, before and behind a FIFO queue of 40 Mbit/s that holds 20 ms. Returns their names."""
    chance = random.Random(seed)
    captures = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)] * 2
    octets = [[capture] for capture in captures]
    now = free = 1_700_000_000_000_000_000
    for number in range(count):
        now += int(chance.expovariate(1 / 100_000))
        flow = int(chance.paretovariate(0.5)) % 60
        payload = chance.randbytes(chance.choice((40, 500, 1000)))
        udp = struct.pack(">HHHH", 1024 + flow, 443, 8 + len(payload), 0) + payload
        address = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), number & 0xFFFF, 0x4000, 64, 17, 0,
                              bytes((10, 0, flow % 7, flow)), bytes((172, 16, 0, 1 + flow % 5)))
        frame = bytes(12) + b"\x08\x00" + address + udp
        octets[0].append(record(now, frame))
        if free - now < 20_000_000 and chance.random() > 0.002:
            free = max(free, now) + len(frame) * 200
            octets[1].append(record(free, frame))
    names = [directory / "sent.pcap", directory / "received.pcap"]
    for name, parts in zip(names, octets):
        name.write_bytes(b"".join(parts))
    return [str(name) for name in names]


def record(time, frame):
    """A packet of a capture file, at a time in ns."""
    return struct.pack("<IIII", time // 10**9, time % 10**9, len(frame), len(frame)) + frame


def commands(directory):
    """Yields the name and the arguments of each command; @ stands for a directory of its own."""
    for capture in captures():
        yield "meter-" + capture.parent.name, ["meter", "-r", str(capture), "--export", "file:@/out.ipfix", "--stats", "@/stats"]
    mix = str(next(iter(sorted((CAPTURES / "mix").glob("*.pcap")))))
    for number, options in enumerate([
            [], ["--profile", "classic"], ["--profile", "standard"], ["--idle", "1s"], ["--active", "1s", "--idle", "500ms"],
            ["--max-flows", "64"], ["--flow-key", "dscp"], ["--flow-key", "vlan"], ["--flow-key", "interface"],
            ["--tunnels", "inner"], ["--options", "on"], ["--options", "off"],
            ["--observation-domain", "77"], ["--enterprise-number", "9"], ["--threading", "invoker"], ["--threading", "shared"],
            ["--filter", "udp"], ["--filter", "tcp port 443"],
            ["--filter", "no such"], ["--set", "exporting.max-message-size=1400"], ["--quiet"]]):
        yield f"meter-options-{number}", ["meter", "-r", mix, "--export", "file:@/out.ipfix", "--stats", "@/stats", "--fragments", "off",
                                          *options]
    yield "meter-table", ["meter", "-r", mix, "--max-flows", "1k", "--fragments", "off"]
    yield "meter-several", ["meter", "-r", *[str(capture) for capture in captures()[:6]]]
    sent, received = pair(directory, 1)
    key = directory / "digest-key"
    key.write_text("000102030405060708090a0b0c0d0e0f\n")
    key.chmod(0o600)
    keyed = ["--set", f"decode.digest-key-file={key}"]
    real = CAPTURES / "twopoint"
    pairs = [("fifo", [sent, received]), ("swapped", [received, sent]),
             ("tsn", [str(real / f"det6g_tsn_untagged_{point}.pcap") for point in ("ingress", "egress")]),
             ("trex", [str(real / f"trex_tcp2_http_drop_{point}.pcap") for point in ("client", "server")])]
    for name, (first, second) in pairs:
        for number, options in enumerate([
                [], ["--compare"], ["--estimators", "rli"], ["--estimators", "lds"], ["--estimators", "rli,lds"],
                ["--estimators", "joint"], ["--estimators", "joint", "--capacity", "40m"], ["--reconcile", "--estimators", "lds"],
                ["--policy", "every-n", "--set", "rli.every-n=50"], ["--policy", "passive"], ["--references", "passive"],
                ["--memory", "64m"], ["--max-delay", "1ms"], ["--interval", "1s"], ["--truth", "-"], ["--profile", "classic"],
                ["--threading", "invoker"], ["--rows", "3", "--columns", "100", "--vlda", "2"], ["--set", "quantiles.memory=0"]]):
            yield f"delay-{name}-{number}", [
                "delay", "-s", first, "-r", second, "--export", "file:@/out.ipfix", "--stats", "@/stats", *keyed, *options]
        yield f"delay-{name}-table", ["delay", "-s", first, "-r", second, *keyed]
    ipfix = directory / "mix.ipfix"
    run(["delay", "-s", sent, "-r", received, "--options", "off", "--export", f"file:{ipfix}"], directory).check_returncode()
    for kind in "table", "json", "csv":
        yield f"collect-{kind}", ["collect", "-r", str(ipfix), "--format", kind]
        yield f"collect-{kind}-count", ["collect", "-r", str(ipfix), "--format", kind, "--count", "7"]
    yield "collect-none", ["collect", "-r", "@/none"]
    yield "collect-no-ipfix", ["collect", "-r", sent]
    for number, options in enumerate([
            [], ["--flows", "146k", "--packets", "5m"], ["--flows", "10k", "--packets", "1m", "--loss", "1%"],
            ["--flows", "10k", "--packets", "1m", "--error", "1%"], ["--flows", "10k", "--packets", "1m", "--bandwidth", "10m"],
            ["--flows", "10k", "--packets", "1m", "--flow-packets", "100"], ["--flows", "0", "--packets", "1m"],
            ["--flows", "x"], ["-r", mix], ["-r", mix, "--interval", "2s", "--confidence", "90%"]]):
        yield f"size-{number}", ["size", *options]
    for number, text in enumerate([
            "", "metering:\n  max-flows: 1k\n", "metering:\n  max-flows: many\n", "no: thing\n", "segment:\n  role: both\n",
            "segment:\n  role: receiver\n", "segment:\n  role: sender\n  id: 4\n", "rli:\n  policy: adaptive\n",
            "rli:\n  target: 192.0.2.1\n", "lds:\n  rows: 0\n", "lds:\n  rows: 3\n  columns: 1000\n", "joint:\n  enabled: on\n",
            "exporting:\n  profile: none\n", "exporting:\n  destinations: [udp://192.0.2.1]\n", "capture:\n  interfaces: []\n",
            "pipeline:\n  threading: sharded\n  shards: 3\n", "a: [\n", "metering: 3\n", "checkpoint:\n  file: @/none/at/all\n",
            "segment:\n  max-delay: 0s\n", "segment:\n  interval: 1s\n  max-delay: 2s\n", "exchange:\n  bandwidth: 8m\n"]):
        yield f"check-config-{number}", ["check-config", ("@/config.yaml", text)]
    for number, options in enumerate([
            [], ["--version"], ["--help"], ["nothing"], ["meter"], ["meter", "-r"], ["meter", "--none"], ["meter", "-r", "@/none"],
            ["meter", "-r", mix, "--idle", "x"], ["meter", "-r", mix, "--export", "ftp://x"], ["meter", "-r", mix, "--set", "a=b"],
            ["meter", "-r", mix, "--export", "file:@/none/out"], ["delay"], ["delay", "-s", sent], ["delay", "-r", sent],
            ["delay", "-s", "@/none", "-r", sent], ["delay", "-s", sent, "-r", received, "--estimators", "none"],
            ["delay", "-s", sent, "-r", received, "--capacity", "x"], ["delay", "-s", sent, "-r", received, "--rows", "0"],
            ["run", "-i", "no-such-interface"], ["run"], ["run", "--ingress", "x"], ["key", "@/key"], ["key", "@/none/key"],
            ["top", "@/none"], ["flows", "@/none"], ["lab"], ["lab", "none"], ["size", "--flows"],
            ["check-config"], ["check-config", "@/none"]]):
        yield f"line-{number}", options
    for name in "demo", "run", "meter", "delay", "collect", "key", "check-config", "size", "plan", "lab", "top", "flows", "metrics":
        yield f"help-{name}", [name, "--help"]


def captures():
    """One capture of each folder, the first by name, but no large one."""
    folders = sorted(folder for folder in CAPTURES.iterdir() if folder.is_dir())
    firsts = []
    for folder in folders:
        files = sorted(file for file in folder.iterdir() if re.search(r"\.(pcap|pcapng|cap)(\.gz)?$", file.name))
        firsts += [file for file in files if file.stat().st_size < 3_000_000][:1]
    return firsts


def run(arguments, own):
    line = []
    for argument in arguments:
        if isinstance(argument, tuple):
            name, text = argument
            pathlib.Path(name.replace("@", str(own))).write_text(text.replace("@", str(own)))
            argument = name
        line.append(argument.replace("@/", f"{own}/"))
    environment = {**os.environ, "FLOWLAG_BUILD": "never", "COLUMNS": "100", "TZ": "UTC", "LC_ALL": "C.UTF-8"}
    return subprocess.run([ROOT / "bin/flowlag", *line], capture_output=True, stdin=subprocess.DEVNULL, cwd=own, env=environment,
                          timeout=300)


def ipfix_content(octets):
    """What does not depend on when messages were sent: each template and its data records in their order."""
    options, templates, lengths, records, place = set(), {}, {}, {}, 0
    while place + 16 <= len(octets):
        end = place + struct.unpack_from(">H", octets, place + 2)[0]
        place += 16
        while place + 4 <= end:
            kind, length = struct.unpack_from(">HH", octets, place)
            content = octets[place + 4:place + length]
            if kind == 3:
                options.add(struct.unpack_from(">H", content)[0])
            elif kind == 2:
                number, fields = struct.unpack_from(">HH", content)
                templates.setdefault(number, content[2:])
                lengths[number] = record_length(content[4:], fields)
            elif kind in options:
                pass
            else:
                records.setdefault(kind, []).append(content[:len(content) // lengths[kind] * lengths[kind]])
            place += max(4, length)
        place = end
    return b"".join(templates[kind] + b"".join(parts) for kind, parts in sorted(records.items()))


def record_length(fields, count):
    """Of the fields of one template, none of which has a variable length."""
    length, place = 0, 0
    for _ in range(count):
        element, octets = struct.unpack_from(">HH", fields, place)
        length += octets
        place += 8 if element & 0x8000 else 4
    return length


def masked(text, own, directory):
    text = text.decode(errors="replace").replace(str(own), "@").replace(str(directory), "@@")
    text = text.replace(str(CAPTURES), "CAPTURES").replace(str(ROOT), "ROOT")
    for pattern, mask in MASKS:
        text = pattern.sub(mask, text)
    return text.encode()


def outputs(name, arguments, directory):
    own = directory / name
    own.mkdir()
    result = run(arguments, own)
    found = {"code": str(result.returncode).encode(), "out": masked(result.stdout, own, directory),
             "err": masked(result.stderr, own, directory)}
    if (own / "out.ipfix").exists():
        found["ipfix"] = ipfix_content((own / "out.ipfix").read_bytes())
    if (own / "stats").exists():
        found["stats"] = masked((own / "stats").read_bytes(), own, directory)
    return found


def main(arguments):
    keep = pathlib.Path(arguments[arguments.index("--keep") + 1]) if "--keep" in arguments else None
    picks = [word for place, word in enumerate(arguments) if not word.startswith("--") and arguments[place - 1] != "--keep"]
    old = dict(line.split(" ", 1) for line in FROZEN.read_text().splitlines()) if FROZEN.exists() else {}
    new = {}
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        directory = pathlib.Path(temporary)
        jobs = {name: pool.submit(outputs, name, line, directory) for name, line in commands(directory)
                if not picks or any(pick in name for pick in picks)}
        for name, job in jobs.items():
            found = job.result()
            new[name] = " ".join([f"code:{found['code'].decode()}", *(
                f"{part}:{hashlib.sha256(octets).hexdigest()[:16]}" for part, octets in found.items() if part != "code")])
            for part, octets in found.items() if keep else ():
                (keep / name).mkdir(parents=True, exist_ok=True)
                (keep / name / part).write_bytes(octets)
    different = [name for name in new if old.get(name) != new[name]]
    for name in different:
        parts = set(new[name].split()) ^ set(old.get(name, "").split())
        print(f"{name}: differs in {', '.join(sorted({part.split(':')[0] for part in parts}))}")
    refused = [name for name in new if not new[name].startswith(("code:0 ", "code:65 ")) and name not in REFUSED and
               name.startswith(("meter-", "delay-", "collect-"))]
    for name in refused:
        print(f"{name}: was refused")
    gone = [] if picks else [name for name in old if name not in new]
    for name in gone:
        print(f"{name}: is gone")
    print(f"{len(new)} commands, {len(different)} differ")
    if "--write" in arguments:
        FROZEN.write_text("".join(f"{name} {digests}\n" for name, digests in sorted({**(old if picks else {}), **new}.items())))
        return 1 if refused else 0
    return 1 if different or gone or refused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
