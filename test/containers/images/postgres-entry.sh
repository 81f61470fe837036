#!/bin/bash
# Does for the stand-in of Postgres what the entry point of the official image does: it creates the
# database's cluster with POSTGRES_PASSWORD and POSTGRES_DB, and runs Postgres as user 999.
set -e
if [ $# -eq 0 ] || [ "${1:0:1}" = - ]; then set -- postgres "$@"; fi
mkdir -p "$PGDATA"
if [ "$(id -u)" = 0 ]; then
  chown -R 999:999 "$PGDATA" /var/run/postgresql
  exec setpriv --reuid=999 --regid=999 --clear-groups "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  chmod 700 "$PGDATA"
  initdb -U postgres --pwfile=<(echo "$POSTGRES_PASSWORD") -A scram-sha-256 --no-locale -E UTF8 > /dev/null
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  printf "listen_addresses='*'\nunix_socket_directories='/var/run/postgresql'\n" >> "$PGDATA/postgresql.conf"
  if [ "${POSTGRES_DB:-postgres}" != postgres ]; then
    pg_ctl -w -o "-c listen_addresses=''" start > /dev/null
    PGPASSWORD=$POSTGRES_PASSWORD psql -qh /var/run/postgresql -U postgres -c "create database \"$POSTGRES_DB\""
    pg_ctl -m fast -w stop > /dev/null
  fi
fi
exec "$@"
