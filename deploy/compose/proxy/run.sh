#!/bin/sh
# Runs nginx with the nodes whose /readyz says 200, which it asks every second: nginx itself looks at no health.
# NODES has their addresses, host:port, divided by blanks. A change is a reload, which cuts no request off. If no node
# is ready, all are in turn, so that callers get the nodes' own answer.
#
#   NODES='10.0.0.1:8420 10.0.0.2:8420' run.sh
set -eu

work=${PROXY_WORK:-/tmp}
settings=${PROXY_SETTINGS:-/etc/unitask/nginx.conf}
: "${NODES:?}"

# ask asks all nodes at once and leaves a file for each that is ready.
ask() {
  waits=
  for node in $NODES; do
    rm -f "$work/ready-$node"
    { curl -fs -m 2 -o /dev/null "http://$node/readyz" && : >"$work/ready-$node"; } &
    waits="$waits $!"
  done
  for asked in $waits; do wait "$asked" || true; done
}

# upstream prints the nodes as nginx wants them.
upstream() {
  any=
  for node in $NODES; do
    if [ -e "$work/ready-$node" ]; then any=1; fi
  done
  echo "upstream unitask {"
  echo "  zone unitask 64k;"
  for node in $NODES; do
    down=" down"
    if [ -z "$any" ] || [ -e "$work/ready-$node" ]; then down=; fi
    # Without max_fails=0 one caller's failures would take nodes out of turn for all.
    echo "  server $node max_fails=0$down;"
  done
  echo "  keepalive 64;"
  echo "  keepalive_timeout 60s;"
  echo "}"
}

ask
upstream >"$work/nodes.conf"
nginx -e stderr -c "$settings" -g 'daemon off;' &
nginx=$!
# QUIT lets the requests under way end; a reload after it would begin anew.
stopping=
trap 'stopping=1; kill -QUIT "$nginx"' TERM INT QUIT

while [ -z "$stopping" ] && kill -0 "$nginx" 2>/dev/null; do
  sleep 1
  if [ -n "$stopping" ]; then break; fi
  ask
  upstream >"$work/nodes.next"
  if ! cmp -s "$work/nodes.next" "$work/nodes.conf"; then
    mv "$work/nodes.next" "$work/nodes.conf"
    echo "run.sh: nodes in turn: $(grep 'server ' "$work/nodes.conf" | grep -vc ' down;' || true)" >&2
    kill -HUP "$nginx" 2>/dev/null || true
  fi
done
wait "$nginx"
