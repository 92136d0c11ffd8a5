"""A proxy that gives each connection a fate: it passes, is refused, loses the answer, cuts or hangs."""

import socket
import threading
from urllib.parse import urlsplit


class Proxy:
    """Connections get the fates in turn; those after the last pass.

    "pass"; "refuse": closed at once; "lose": the request goes through, its answer doesn't; "cut:N": so many bytes of the
    answer come; "cut-sent:N": so many of the requests go; "flip:N": the requests' byte at N is another; "hang": nothing
    comes back.
    """

    def __init__(self, target, fates):
        parts = urlsplit(target)
        self._target, self._fates, self._open = (parts.hostname, parts.port), fates, []
        self.connections = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self._listener.getsockname()[1]
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self):
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            fate = self._fates[self.connections] if self.connections < len(self._fates) else "pass"
            self.connections += 1
            if fate == "refuse":
                near.close()
                continue
            far = socket.create_connection(self._target)
            self._open += [near, far]
            back = None if fate == "hang" else near
            name, _, number = fate.partition(":")
            sent = int(number) if name == "cut-sent" else None
            flip = int(number) if name == "flip" else None
            most = 0 if fate == "lose" else int(number) if name == "cut" else None
            for pair in ((near, far, sent, flip), (far, back, most, None)):
                thread = threading.Thread(target=self._copy, args=pair)
                self._threads.append(thread)
                thread.start()

    def _copy(self, source, sink, most, flip):
        """Copies up to most bytes, or all, and ends both connections; to None it copies nothing, and ends neither."""
        passed = 0
        try:
            while data := source.recv(65536):
                if sink is None:
                    continue
                passed += len(data)
                at = -1 if flip is None else flip - (passed - len(data))
                if 0 <= at < len(data):
                    data = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
                data = data if most is None else data[:most]
                sink.sendall(data)
                most = None if most is None else most - len(data)
                if most == 0:
                    break
        except OSError:
            pass
        if sink is not None:
            _shut(source)
            _shut(sink)

    def cut(self):
        """Ends all connections that are open."""
        for s in self._open:
            _shut(s)

    def close(self):
        _shut(self._listener)
        self._listener.close()
        self.cut()
        for thread in self._threads:
            thread.join()
        for s in self._open:
            s.close()


def _shut(s):
    try:
        s.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
