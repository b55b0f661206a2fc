#!/usr/bin/env python3
"""How long the language server takes for what an editor asks of a document: medians and maxima in milliseconds, as a table in Markdown.

    tools/language_server.py target/release/cute-lsp-server examples/kernels/flash_attention.mlir

Each request is made of places all over the document, the first one as soon as the server has said what is wrong with it. A hover behind a pause
is one of a document that has been open for a while, a hover at once one of a document that has just changed: it is answered with what is there after 75 ms.
"""

import argparse
import json
import re
import statistics
import subprocess
import time
from pathlib import Path

# The time that the server waits before it reads a document ahead, and some for reading it.
PAUSE = 2.0


class Server:
    def __init__(self, program):
        self.child = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.ids = 0
        self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})

    def say(self, method, params, **more):
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        self.child.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.child.stdin.flush()

    def hear(self):
        length = 0
        while line := self.child.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if not length:
            raise SystemExit("the server has ended")
        return json.loads(self.child.stdout.read(length))

    def ask(self, method, params):
        """The answer to a request, and the milliseconds that it took."""
        self.ids += 1
        start = time.perf_counter()
        self.say(method, params, id=self.ids)
        while (message := self.hear()).get("id") != self.ids:
            pass
        return message, (time.perf_counter() - start) * 1000

    def diagnosed(self, method, params):
        """The milliseconds from a notification to what is wrong with the document."""
        start = time.perf_counter()
        self.say(method, params)
        while self.hear().get("method") != "textDocument/publishDiagnostics":
            pass
        return (time.perf_counter() - start) * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server", type=Path)
    parser.add_argument("document", type=Path)
    arguments = parser.parse_args()
    text = arguments.document.read_text()
    lines = text.splitlines()
    uri = arguments.document.resolve().as_uri()
    server = Server(arguments.server.resolve())
    document = {"uri": uri}
    rows = {}
    opened = {"textDocument": {"uri": uri, "languageId": "mlir", "version": 0, "text": text}}
    rows["diagnostics of a document that is opened"] = [server.diagnosed("textDocument/didOpen", opened)]
    words = [(n, m.start() + 5) for n, line in enumerate(lines) for m in re.finditer(r"cute[a-z_]*\.[\w.]+", line.split("//")[0])]
    calls = [(n, m.start() + 1) for n, line in enumerate(lines) for m in re.finditer(r"@\w+", line.split("//")[0])]

    def at(place):
        return {"textDocument": document, "position": {"line": place[0], "character": place[1]}}

    time.sleep(PAUSE)
    rows["hover"] = [server.ask("textDocument/hover", at(word))[1] for word in words]
    rows["definition of what @ names"] = [server.ask("textDocument/definition", at(call))[1] for call in calls]
    every = {"start": {"line": 0, "character": 0}, "end": {"line": len(lines), "character": 0}}
    hints = {"textDocument": document, "range": every}
    rows["hints of all lines, the first time"] = [server.ask("textDocument/inlayHint", hints)[1]]
    rows["hints of all lines, again"] = [server.ask("textDocument/inlayHint", hints)[1] for _ in range(20)]
    rows["completion"] = [server.ask("textDocument/completion", at(word))[1] for word in words]
    changed, at_once = [], []
    for version in range(1, 11):
        new = {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": f"{text}// {version}\n"}]}
        changed.append(server.diagnosed("textDocument/didChange", new))
        at_once.append(server.ask("textDocument/hover", at(words[version % len(words)]))[1])
        time.sleep(PAUSE)
    rows["diagnostics of a document that has changed"] = changed
    rows["hover at once behind a change"] = at_once
    server.child.kill()
    print("| request | times | median, ms | longest |\n| --- | --- | --- | --- |")
    for name, times in rows.items():
        print(f"| {name} | {len(times)} | {statistics.median(times):.1f} | {max(times):.1f} |")


if __name__ == "__main__":
    main()
