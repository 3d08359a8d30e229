"""Certificates for a test, made by openssl: elliptic curves, for they cost little."""

import pathlib
import subprocess


def openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


class Authority:
    def __init__(self, directory, name="ca"):
        self.dir = pathlib.Path(directory)
        self.cert, self.key = self.dir / f"{name}.pem", self.dir / f"{name}.key"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-days", 2, "-subj", f"/CN={name}", "-keyout", self.key, "-out", self.cert)

    def issue(self, name, usage="serverAuth", days=2):
        """(certificate, key) of that name, valid for 127.0.0.1 and localhost."""
        cert, key = self.dir / f"{name}.pem", self.dir / f"{name}.key"
        request, extensions = self.dir / f"{name}.csr", self.dir / f"{name}.ext"
        openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-subj", f"/CN={name}", "-keyout", key, "-out", request)
        extensions.write_text("subjectAltName=IP:127.0.0.1,IP:::1,DNS:localhost\n"
                              f"extendedKeyUsage={usage}\n")
        openssl("x509", "-req", "-in", request, "-CA", self.cert, "-CAkey", self.key, "-days", days,
                "-CAcreateserial", "-extfile", extensions, "-out", cert)
        return cert, key
