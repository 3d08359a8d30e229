"""Send one command to a guest's QEMU monitor and print the answer: monitor.py SOCKET COMMAND"""

import socket
import sys

PROMPT = b"(qemu) "


def read_answer(sock):
    data = b""
    while not data.endswith(PROMPT):
        chunk = sock.recv(65536)
        if not chunk:
            break
        data += chunk
    return data


def main():
    path, command = sys.argv[1:3]
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.settimeout(10)
        sock.connect(path)
        read_answer(sock)
        sock.sendall(command.encode() + b"\n")
        answer = read_answer(sock)
    # The monitor echoes the command as if it were typed on a terminal: drop that line.
    text = answer[: -len(PROMPT)].decode(errors="replace")
    print(text.split("\n", 1)[1].replace("\r", "") if "\n" in text else text, end="")


if __name__ == "__main__":
    main()
