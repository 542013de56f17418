#!/bin/sh
# Hands a renewed certificate to utmost, which goes on without a restart. For certbot, copy it to
# /etc/letsencrypt/renewal-hooks/deploy/utmost and make it executable: certbot names the folder in RENEWED_LINEAGE.
# Other clients: renewed.sh CHAIN.pem KEY.pem
set -eu
umask 077
chain=${1:-$RENEWED_LINEAGE/fullchain.pem}
key=${2:-$RENEWED_LINEAGE/privkey.pem}
folder=${UTMOST_TLS:-/etc/utmost/tls}
group=${UTMOST_TLS_GROUP:-utmost-tls}
# Both are complete before either has its name.
install -m 0640 -g "$group" "$chain" "$folder/cert.pem.new"
install -m 0640 -g "$group" "$key" "$folder/key.pem.new"
mv "$folder/cert.pem.new" "$folder/cert.pem"
mv "$folder/key.pem.new" "$folder/key.pem"
# Not yet running is no fault.
systemctl try-reload-or-restart utmost
