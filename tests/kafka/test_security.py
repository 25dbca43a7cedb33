"""TLS, logins, rights: what works, and a plain message for each fault that names the setting to change."""

import pytest


@pytest.fixture(scope="module")
def secret(kafka):
    """A topic with one record that alice may read."""
    from conftest import Topic
    topic = Topic(kafka)
    topic.produce(["hello"])
    kafka.allow("alice", ["DESCRIBE", "READ"], topic.name)
    return topic


def options(**properties):
    return [part for key, value in properties.items() for part in ("-X", f"{key.replace('_', '.')}={value}")]


def login(kafka, protocol, mechanism="PLAIN", password="alice-password", **more):
    properties = {"security_protocol": protocol.lower(), "sasl_mechanism": mechanism, "sasl_username": "alice",
                  "sasl_password": password, **more}
    if protocol == "SASL_SSL":
        properties["ssl_ca_location"] = kafka.certificates.path("ca.pem")
    return options(**properties)


@pytest.mark.parametrize("protocol", ["SASL_PLAINTEXT", "SASL_SSL"])
@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_login(kafka, tail, secret, protocol, mechanism):
    reader = tail(secret, "--from", "earliest", "--until", "end", *login(kafka, protocol, mechanism),
                  brokers=kafka.bootstrap(protocol))
    assert reader.end() == 0, reader.text()
    assert reader.texts() == ["hello"]


def refused(tail, secret, brokers, *more):
    reader = tail(secret, "--from", "earliest", "--until", "end", *more, brokers=brokers)
    assert reader.end() == 1, reader.text()
    assert reader.rows == []
    return reader.text()


def test_five_faults_have_five_plain_messages(kafka, tail, secret):
    ca = kafka.certificates.path("ca.pem")
    tls = {"security_protocol": "ssl"}
    texts = {
        "security.protocol=ssl": refused(tail, secret, kafka.bootstrap("SSL")),
        "security.protocol=plaintext": refused(tail, secret, kafka.bootstrap(), *options(**tls, ssl_ca_location=ca)),
        "sasl.password": refused(tail, secret, kafka.bootstrap("SASL_PLAINTEXT"),
                                 *login(kafka, "SASL_PLAINTEXT", password="hunter2")),
        "ssl.ca.location": refused(tail, secret, kafka.bootstrap("SSL"),
                                   *options(**tls, ssl_ca_location=kafka.certificates.path("other-ca.pem"))),
        "host name": refused(tail, secret, kafka.bootstrap("SSL", "127.0.0.1"),
                             *options(**tls, ssl_ca_location=ca)),
    }
    for setting, text in texts.items():
        assert setting in text, text
        assert "hunter2" not in text
    assert len(set(texts.values())) == len(texts)


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_wrong_scram_password_is_one_too(kafka, tail, secret, mechanism):
    text = refused(tail, secret, kafka.bootstrap("SASL_PLAINTEXT"),
                   *login(kafka, "SASL_PLAINTEXT", mechanism, password="hunter2"))
    assert "sasl.password" in text and "hunter2" not in text


def test_a_port_that_wants_a_login_is_said(kafka, tail, secret):
    assert "sasl.username" in refused(tail, secret, kafka.bootstrap("SASL_PLAINTEXT"))


def test_missing_rights_are_named(kafka, tail, topic):
    one = topic()
    one.produce(["hello"])
    where = kafka.bootstrap("SASL_PLAINTEXT")
    assert "Describe" in refused(tail, one, where, *login(kafka, "SASL_PLAINTEXT"))
    kafka.allow("alice", ["DESCRIBE"], one.name)
    text = refused(tail, one, where, *login(kafka, "SASL_PLAINTEXT"))
    assert "Read" in text and one.name in text
