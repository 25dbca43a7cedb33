"""A real Apache Kafka on loopback for tests: one broker or three, plaintext, TLS, SASL PLAIN and SCRAM, ACLs.

    with Cluster() as kafka:            # or Cluster(brokers=3)
        kafka.bootstrap("PLAINTEXT")    # also SSL, SASL_PLAINTEXT, SASL_SSL

The jars come from scripts/setup.sh test. Everything lives in a temporary folder that goes with the cluster. The plaintext
door is the administrator's; users of the other doors have no right that an ACL does not give. `localhost` is the only name
in the certificate, so that 127.0.0.1 is a wrong one.
"""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEPS = pathlib.Path(os.environ.get("KAFSCOPE_DEPS_DIR", ROOT / ".deps"))
JARS = DEPS / "kafka" / "jars"
CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"
START_SECONDS = 120  # a loaded machine; 4 s if all is well

# For the doors with a login. Not secrets: the broker lives as long as the tests.
USERS = {"admin": "admin-password", "alice": "alice-password"}
PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")

LOG4J = """<Configuration><Appenders><File name="f" fileName="%s"><PatternLayout pattern="%%d %%p %%m (%%c)%%n"/></File>
</Appenders><Loggers><Root level="INFO"><AppenderRef ref="f"/></Root></Loggers></Configuration>
"""


def free_ports(count):
    """Ports that nobody listens on now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def run(*command, cwd=None):
    subprocess.run(command, cwd=cwd, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


class Certificates:
    """An authority of our own, a server certificate for localhost, and an authority that signed nothing."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        for name in ("ca", "other-ca"):
            run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", f"/CN={name}",
                "-keyout", f"{name}.key", "-out", f"{name}.pem", cwd=folder)
        run("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", "server.key", "-out",
            "server.csr", cwd=folder)
        (self.folder / "san").write_text("subjectAltName=DNS:localhost\n")
        run("openssl", "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-days", "30", "-extfile", "san", "-out", "server.crt", cwd=folder)
        parts = [(self.folder / name).read_text() for name in ("server.key", "server.crt", "ca.pem")]
        (self.folder / "server.pem").write_text("".join(parts))

    def path(self, name):
        return str(self.folder / name)


class Broker:
    """One process. `ports` by protocol, and CONTROLLER."""

    def __init__(self, cluster, node):
        self.cluster = cluster
        self.node = node
        self.folder = cluster.folder / f"broker-{node}"
        self.folder.mkdir()
        self.log = self.folder / "broker.log"
        self.process = None
        ports = free_ports(len(PROTOCOLS) + 1)
        self.ports = dict(zip((*PROTOCOLS, "CONTROLLER"), ports))

    def properties(self):
        brokers = self.cluster.brokers
        several = len(brokers) > 1
        replicas = min(3, len(brokers))
        hosts = {name: "localhost" if "SSL" in name else "127.0.0.1" for name in PROTOCOLS}
        listeners = [f"{name}://127.0.0.1:{self.ports[name]}" for name in PROTOCOLS]
        advertised = [f"{name}://{hosts[name]}:{self.ports[name]}" for name in PROTOCOLS]
        certificates = self.cluster.certificates
        result = {
            "process.roles": "broker,controller",
            "node.id": self.node,
            "controller.quorum.voters": ",".join(f"{b.node}@127.0.0.1:{b.ports['CONTROLLER']}" for b in brokers),
            "listeners": ",".join([*listeners, f"CONTROLLER://127.0.0.1:{self.ports['CONTROLLER']}"]),
            "advertised.listeners": ",".join(advertised),
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT," + ",".join(f"{p}:{p}" for p in PROTOCOLS),
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "PLAINTEXT",
            "log.dirs": self.folder / "data",
            "num.partitions": 1,
            "default.replication.factor": replicas,
            "min.insync.replicas": 2 if several else 1,
            "auto.create.topics.enable": "false",
            "group.initial.rebalance.delay.ms": 0,
            "group.min.session.timeout.ms": 1000,
            "num.network.threads": 2,
            "num.io.threads": 2,
            "log.cleaner.dedupe.buffer.size": 16777216,
            "log.cleaner.backoff.ms": 200,
            "log.segment.bytes": 134217728,
            "log.index.size.max.bytes": 1048576,
            "message.max.bytes": 33554432,
            "controlled.shutdown.enable": "true" if several else "false",
            "broker.session.timeout.ms": 2000,
            "broker.heartbeat.interval.ms": 500,
            # TLS, logins, rights
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": certificates.path("server.pem"),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": certificates.path("ca.pem"),
            "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS;User:admin",
            "allow.everyone.if.no.acl.found": "false",
        }
        for topic in ("offsets.topic", "transaction.state.log", "share.coordinator.state.topic"):
            result[f"{topic}.num.partitions"] = 1
            result[f"{topic}.replication.factor"] = replicas
            if topic != "offsets.topic":
                result[f"{topic}.min.isr"] = 2 if several else 1
        if several:
            result.update({"controller.quorum.election.timeout.ms": 500, "controller.quorum.fetch.timeout.ms": 1000,
                           "replica.lag.time.max.ms": 5000})
        users = "".join(f' user_{name}="{password}"' for name, password in USERS.items())
        security = "org.apache.kafka.common.security"
        for door in ("sasl_plaintext", "sasl_ssl"):
            result[f"listener.name.{door}.plain.sasl.jaas.config"] = f"{security}.plain.PlainLoginModule required{users};"
            for hash_size in (256, 512):
                result[f"listener.name.{door}.scram-sha-{hash_size}.sasl.jaas.config"] = \
                    f"{security}.scram.ScramLoginModule required;"
        result.update(self.cluster.extra)
        return "".join(f"{key}={value}\n" for key, value in result.items())

    def format(self):
        (self.folder / "server.properties").write_text(self.properties())
        (self.folder / "log4j2.xml").write_text(LOG4J % self.log)
        scram = []
        for name, password in USERS.items():
            for hash_size in (256, 512):
                scram += ["--add-scram", f"SCRAM-SHA-{hash_size}=[name={name},password={password}]"]
        run("java", f"-Dlog4j2.configurationFile={self.folder / 'log4j2.xml'}", "-cp", f"{JARS}/*",
            "kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(self.folder / "server.properties"), *scram)

    def launch(self):
        """Starts the process; await_ready() waits for it."""
        self.log.unlink(missing_ok=True)
        heap = "384m" if len(self.cluster.brokers) > 1 else "512m"
        with open(self.folder / "output", "w", encoding="utf-8") as output:
            # close_fds (the default) keeps our pipes out of the broker: whoever waits for them would wait for it.
            self.process = subprocess.Popen(
                ["java", f"-Xmx{heap}", "-Xms128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                 f"-Dlog4j2.configurationFile={self.folder / 'log4j2.xml'}", "-cp", f"{JARS}/*", "kafka.Kafka",
                 str(self.folder / "server.properties")],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)

    def await_ready(self):
        deadline = time.monotonic() + START_SECONDS
        while True:
            if self.log.exists() and "Kafka Server started" in self.log.read_text(errors="replace"):
                return
            if self.process.poll() is not None or time.monotonic() > deadline:
                text = (self.folder / "output").read_text(errors="replace")
                log = self.log.read_text(errors="replace") if self.log.exists() else ""
                raise RuntimeError(f"broker {self.node} did not start (exit {self.process.poll()}):\n{text[-2000:]}\n{log[-3000:]}")
            time.sleep(0.1)

    def start(self):
        self.launch()
        self.await_ready()

    def kill(self, how=signal.SIGKILL):
        if self.process is not None:
            self.process.send_signal(how)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(60)
            self.process = None


class Cluster:
    def __init__(self, brokers=1, extra=None):
        self.extra = extra or {}
        self.count = brokers
        self.brokers = []
        self.folder = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        if not JARS.is_dir():
            raise RuntimeError(f"no Kafka in {JARS}: run scripts/setup.sh test")
        # Another process may take a port between our look and the broker's start: then all begins anew with other ports.
        for attempt in range(3):
            self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kafscope-kafka-"))
            try:
                self.certificates = Certificates(self.folder)
                self.brokers = []
                for node in range(1, self.count + 1):
                    self.brokers.append(Broker(self, node))
                for broker in self.brokers:
                    broker.format()
                for broker in self.brokers:
                    broker.launch()
                for broker in self.brokers:
                    broker.await_ready()
                return
            except RuntimeError as error:
                self.stop()
                if attempt == 2 or "Address already in use" not in str(error):
                    raise

    def stop(self):
        for broker in self.brokers:
            broker.kill()
        self.brokers = []
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def bootstrap(self, protocol="PLAINTEXT", host=None):
        host = host or ("localhost" if "SSL" in protocol else "127.0.0.1")
        return ",".join(f"{host}:{broker.ports[protocol]}" for broker in self.brokers)

    def allow(self, user, operations, topic):
        """Gives a user rights on a topic."""
        from confluent_kafka.admin import (AclBinding, AclOperation, AclPermissionType, AdminClient, ResourcePatternType,
                                           ResourceType)
        bindings = [AclBinding(ResourceType.TOPIC, topic, ResourcePatternType.LITERAL, f"User:{user}", "*",
                               AclOperation[operation], AclPermissionType.ALLOW) for operation in operations]
        admin = AdminClient({"bootstrap.servers": self.bootstrap()})
        for future in admin.create_acls(bindings).values():
            future.result(60)
        # The broker learns of it a little later. All rights of one call arrive together.
        as_user = AdminClient({"bootstrap.servers": self.bootstrap("SASL_PLAINTEXT"), "security.protocol": "SASL_PLAINTEXT",
                               "sasl.mechanism": "PLAIN", "sasl.username": user, "sasl.password": USERS[user]})
        deadline = time.monotonic() + 60
        while as_user.list_topics(topic, timeout=60).topics[topic].error is not None:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{user} still has no right on {topic}")
            time.sleep(0.05)
