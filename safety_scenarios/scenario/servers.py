# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What runs elsewhere, and where: servers of language models, ARE, a Ray cluster."""

from pydantic import Field, model_validator
from safety_scenarios.scenario.noun import Noun


class ModelServer(Noun):
    """Where the ``llm`` controller finds its model; short for two of its parameters."""

    base_url: str = Field(default='', max_length=2000, pattern=r'^(https?://[^@?#\s]+)?$')
    """URL of an OpenAI-compatible server, such as http://localhost:8000/v1, without credentials;
    empty: the client's own default. The key comes from the environment variable OPENAI_API_KEY."""
    model: str = Field(default='', max_length=500)
    """Name of the model, as the server knows it."""


class JudgeServer(Noun):
    """The language model that decides ``check_type: judge``; any OpenAI-compatible server."""

    base_url: str = Field(default='', max_length=2000, pattern=r'^(https?://[^@?#\s]+)?$')
    """URL of the judge's server, without credentials; empty: the client's own default. The key
    comes from the environment variable JUDGE_API_KEY, else OPENAI_API_KEY."""
    model: str = Field(default='', max_length=500)
    """Name of the judge, as its server knows it; empty: no judge is asked, and what only a judge
    can decide is INCONCLUSIVE."""
    timeout_s: float = Field(default=30.0, gt=0, le=600, json_schema_extra={'unit': 's'})
    """How long one attempt at a question to the judge may take (s)."""
    cache: str = ''
    """Folder for the judge's answers, shared by campaigns; empty: one in the campaign's folder."""
    allow_same_model: str = Field(default='', max_length=500)
    """Name of a model that may judge although it is the one under test."""

    @model_validator(mode='after')
    def _named(self) -> 'JudgeServer':
        if self.base_url and not self.model.strip():
            raise ValueError(f'got judge.base_url {self.base_url} without judge.model, '
                             f'expected the name of a model beside it')
        return self


class AreSettings(Noun):
    """Where ARE itself is, for the world are: it pins versions, and needs a place of its own."""

    python: str = Field(default='', max_length=4000)
    """Python interpreter of the virtual environment in which ARE is installed, such as
    are-venv/bin/python."""
    timeout_s: float = Field(default=30.0, gt=0, le=600, json_schema_extra={'unit': 's'})
    """How long ARE may take for one call of a tool, or for loading a scenario (s)."""
    keep: tuple[str, ...] = Field(default=(), max_length=100)
    """Apps of the file that are there, by their names; none: all. ARE calls it apps_to_keep."""
    skip: tuple[str, ...] = Field(default=(), max_length=100)
    """Apps of the file that are not there, by their names. ARE calls it apps_to_skip."""


class RaySettings(Noun):
    """The Ray cluster on which engine ray runs trials; needs the extra ray."""

    address: str = Field(default='', max_length=500)
    """Address of a Ray cluster, such as 10.0.0.1:6379 or ray://10.0.0.1:10001; auto: the one that
    runs on this machine; empty: one that is started for the campaign, with as many processes as
    there are jobs."""
    in_flight: int = Field(default=0, ge=0, le=100_000)
    """Most trials that were sent to the cluster and have not ended; 0: twice its processors."""
    retries: int = Field(default=3, ge=0, le=100)
    """How often a trial is run again whose machine or process was lost; not where the controller
    runs in that process (isolate=false), which it may have ended."""
    records: str = Field(default='', max_length=2000, pattern=r'^([a-z0-9+]+://[^@?#\s]+)?$')
    """URL below which each machine puts the records of its trials, such as s3://bucket/folder, as
    fsspec opens it, without credentials; empty: they come to the folder of the campaign."""
