"""What start.sh runs."""

import signal
import sys

from cluster import PROTOCOLS, USERS, Cluster

with Cluster(brokers=int(sys.argv[1]) if len(sys.argv) > 1 else 1) as kafka:
    for protocol in PROTOCOLS:
        print(f"{protocol:15} --brokers {kafka.bootstrap(protocol)}")
    print(f"authority       -X ssl.ca.location={kafka.certificates.path('ca.pem')}")
    for name, password in USERS.items():
        print(f"user            -X sasl.username={name} -X sasl.password={password} -X sasl.mechanism=PLAIN|SCRAM-SHA-256|-512")
    print("Ctrl-C ends it.", flush=True)
    try:
        signal.sigwait({signal.SIGINT, signal.SIGTERM})
    except KeyboardInterrupt:
        pass
