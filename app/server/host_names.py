"""Names of hosts: what may stand in a Host header and in `--host`."""

import ipaddress
import re
from urllib.parse import urlsplit

_LABEL = "[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"(?=.{{1,253}}$){_LABEL}(\.{_LABEL})*", re.IGNORECASE)


def name_of(host: str) -> str:
    """Return the name or address of a Host header, in lower case; "" if it is malformed.

    >>> name_of("Class.example.org.:443"), name_of("[::1]:8501"), name_of("a@localhost")
    ('class.example.org', '::1', '')
    """
    try:
        parts = urlsplit(f"//{host}")
        name, _ = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return ""
    return name if parts.netloc == host and "@" not in host and is_host_name(name) else ""


def is_host_name(name: str) -> bool:
    """Return whether this can be the name or address of a host, without a port."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return _NAME.fullmatch(name) is not None
    return True


def is_loopback(name: str) -> bool:
    """Return whether a name or address is one of this computer's for itself."""
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return name.lower() == "localhost"


def check_host(name: str) -> None:
    """Refuse what no browser sends as the name of a host.

    Args:
        name: A name or address; "*." in front of a name of two parts or more stands for all of its
            subdomains.

    ValueError if it is none.
    """
    domain = name.removeprefix("*.")
    if not is_host_name(domain) or (domain != name and "." not in domain):
        raise ValueError(
            f"--host {name!r} is not the name of a host. Pass it as it stands in the browser's "
            "address, without http:// and port: class.example.org, or *.example.org for all "
            "subdomains."
        )
