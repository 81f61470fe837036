# A server without data becomes a standby of the present primary. It never creates a database,
# because the Service may still select a server whose volume was lost.
set -eu
if [ -s "$PGDATA/PG_VERSION" ]; then
  exit 0
fi
# Debian's clients are in a folder of their version.
PATH=$PATH:$(printf %s: /usr/lib/postgresql/*/bin)
until rm -rf "$PGDATA" && pg_basebackup --pgdata="$PGDATA" --wal-method=fetch --checkpoint=fast --write-recovery-conf \
  --dbname="host=postgres-rw user=postgres application_name=$POD_NAME connect_timeout=3"; do
  sleep 1
done
