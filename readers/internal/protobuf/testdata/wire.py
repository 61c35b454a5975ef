"""Reads and writes the fields of protocol buffers, for the scripts that make traces of Perfetto and XLA."""


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """Yields number, wire type, value and the bytes of each field."""
    at = 0
    while at < len(data):
        start = at
        tag, at = number(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = number(data, at)
        else:
            size = {1: 8, 5: 4}.get(kind)
            if size is None:
                size, at = number(data, at)
            value, at = data[at:at + size], at + size
        yield tag >> 3, kind, value, data[start:at]


def holder(n, data):
    """A field of bytes."""
    return varint(n << 3 | 2) + varint(len(data)) + bytes(data)
