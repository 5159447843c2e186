#!/bin/sh
# The first start of the database: an ordinary role that owns it, with the extension that only a superuser adds.
set -eu
psql --username "${POSTGRES_USER:-postgres}" --set ON_ERROR_STOP=1 --set "password=$PROWESS_PASSWORD" <<'SQL'
CREATE ROLE prowess LOGIN PASSWORD :'password';
CREATE DATABASE prowess OWNER prowess;
\connect prowess
CREATE EXTENSION vector;
SQL
