#!/bin/sh
# Runs after the package is installed: makes the server's user. The service is started by whoever wants it.
set -e
if command -v systemd-sysusers >/dev/null 2>&1; then
  systemd-sysusers unitask.conf
fi
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload || true
fi
