#!/bin/sh
# Runs after the package is removed. The data in /var/lib/unitask and the user stay.
set -e
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload || true
fi
