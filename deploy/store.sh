#!/bin/sh
# The first start of the database: an ordinary role that owns it, and pgvector for whoever wants it beside prowess,
# in a schema of its own, since prowess has a table called vector.
set -eu
psql --username "${POSTGRES_USER:-postgres}" --set ON_ERROR_STOP=1 --set "password=$PROWESS_PASSWORD" <<'SQL'
CREATE ROLE prowess LOGIN PASSWORD :'password';
CREATE DATABASE prowess OWNER prowess;
\connect prowess
CREATE SCHEMA extensions;
CREATE EXTENSION vector SCHEMA extensions;
SQL
