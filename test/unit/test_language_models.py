# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Clients of language models: whom they trust is what the environment says, and is read once."""

import ssl

import openai
import pytest
from safety_scenarios.controllers.chat.language_models import client
from unit.controllers.fake_server import Reply, serving

NOBODY = """-----BEGIN CERTIFICATE-----
MIIBejCCAR+gAwIBAgIUdMxVakYs+/MCLIo52IvCwsglxgkwCgYIKoZIzj0EAwIw
ETEPMA0GA1UEAwwGbm9ib2R5MCAXDTI2MTEyMzA2MjE0MVoYDzIxMjYxMDMwMDYy
MTQxWjARMQ8wDQYDVQQDDAZub2JvZHkwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AARnuamfuiuFS1paGgZoYs0rlhA1oCai6GstY2pVRqGjH/w3rZBRWoZQeVcSt+LD
HFhzmbRW7KxM6OKlMEmijxGAo1MwUTAdBgNVHQ4EFgQUkm/ZSdGPlWbtp6dFWbY0
4MtDiTcwHwYDVR0jBBgwFoAUkm/ZSdGPlWbtp6dFWbY04MtDiTcwDwYDVR0TAQH/
BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEAyrB8iKA5O0APGI/0fbU1TPZossbs
5KTiL77lCiOi0/ICIQCcKBK03RMigv3T+uf4Zy4iqfW5NMjJ6+R52dvhmsGSqw==
-----END CERTIFICATE-----
"""
SERVER = 'https://127.0.0.1:9/v1'


@pytest.fixture
def read(monkeypatch) -> list[str]:
    """Return the files of certificates that are read from now on."""
    files: list[str] = []
    load = ssl.SSLContext.load_verify_locations

    def noted(context, cafile=None, *more, **others):
        files.append(str(cafile))
        load(context, cafile, *more, **others)
    monkeypatch.setattr(ssl.SSLContext, 'load_verify_locations', noted)
    return files


def test_certificates_are_read_once_for_each_environment(read, tmp_path, monkeypatch):
    ours, others = (str(tmp_path / name) for name in ('ours.pem', 'others.pem'))
    for path in (ours, others):
        (tmp_path / path).write_text(NOBODY)
    for path in (ours, ours, others, ours):
        monkeypatch.setenv('SSL_CERT_FILE', path)
        client(SERVER, 'key', 1.0).close()
    assert read == [ours, others]


def test_certificates_that_cannot_be_read_are_no_reason_to_trust_those_of_before(monkeypatch):
    client(SERVER, 'key', 1.0).close()
    monkeypatch.setenv('SSL_CERT_FILE', '/no/such/file.pem')
    with pytest.raises(OSError):
        client(SERVER, 'key', 1.0)


def test_a_client_asks_once_and_waits_as_long_as_it_is_told():
    with client(SERVER, 'key', 1.5) as asking:
        assert (asking.max_retries, asking.timeout) == (0, 1.5)
        assert (str(asking.base_url), asking.api_key) == (f'{SERVER}/', 'key')


def test_of_the_body_of_an_error_only_the_beginning_is_read():
    with serving(Reply(bytes(1 << 20), status=500)) as server, \
            client(server.base_url, 'key', 10.0) as asking:
        with pytest.raises(openai.APIStatusError) as raised:
            asking.chat.completions.create(model='m', messages=[])
        assert len(raised.value.response.content) == 1 << 16
