#!/usr/bin/env bash
# A one-node Ceph object gateway (S3) from Debian's packages, in memory, for tests:
# RGW_HOME=folder ceph-rgw.sh start port monitor-port | stop
# Needs ceph-mon ceph-osd radosgw (apt-get install --no-install-recommends). The path of RGW_HOME must be
# short, because sockets are made below it. Without tcp_nodelay=1 every answer without a body takes 50 ms.
set -euo pipefail
home=${RGW_HOME:?}
port=${2:-7480}
monport=${3:-7481}
ceph() { timeout 120 ceph -c "$home/ceph.conf" "$@"; }
stop() { for p in "$home"/*.pid; do [ -f "$p" ] && kill -9 "$(cat "$p")" 2>/dev/null || true; done; rm -rf "$home"; }
case ${1:-} in
stop) stop; exit 0 ;;
start) ;;
*) echo "usage: RGW_HOME=folder ceph-rgw.sh start port monitor-port | stop" >&2; exit 2 ;;
esac
stop; mkdir -p "$home"/{mon,osd,rgw,run}
fsid=$(cat /proc/sys/kernel/random/uuid)
cat >"$home/ceph.conf" <<C
[global]
fsid = $fsid
mon host = v1:127.0.0.1:$monport
auth cluster required = none
auth service required = none
auth client required = none
run dir = $home/run
admin socket = $home/run/\$name.\$pid.asok
pid file = $home/\$name.pid
log file =
log to stderr = false
ms bind msgr2 = false
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
mon allow pool size one = true
mon warn on pool no redundancy = false
osd crush chooseleaf type = 0
[mon.a]
mon data = $home/mon
[osd.0]
osd data = $home/osd
osd objectstore = memstore
memstore device bytes = 4294967296
osd class update on start = false
osd crush update on start = false
[client.rgw]
rgw data = $home/rgw
rgw frontends = beast endpoint=127.0.0.1:$port tcp_nodelay=1
rgw crypt require ssl = false
keyring = /dev/null
C
monmaptool --create --fsid "$fsid" --addv a "[v1:127.0.0.1:$monport]" "$home/monmap" >/dev/null
ceph-mon -c "$home/ceph.conf" -i a --mkfs --monmap "$home/monmap"
ceph-mon -c "$home/ceph.conf" -i a
for i in $(seq 240); do ceph -s >/dev/null 2>&1 && break; sleep 0.5; done
uuid=$(cat /proc/sys/kernel/random/uuid)
ceph osd new "$uuid" 0 >/dev/null
ceph osd crush add-bucket here host >/dev/null 2>&1 || true
ceph osd crush move here root=default >/dev/null 2>&1 || true
ceph osd crush add osd.0 1.0 host=here >/dev/null
ceph-osd -c "$home/ceph.conf" -i 0 --mkfs --osd-uuid "$uuid"
ceph-osd -c "$home/ceph.conf" -i 0
radosgw -c "$home/ceph.conf" -n client.rgw
for i in $(seq 240); do curl -sf -o /dev/null "http://127.0.0.1:$port/" && break; sleep 0.5; done
timeout 240 radosgw-admin -c "$home/ceph.conf" user create --uid=test --display-name=test --access-key=test --secret-key=testsecret >/dev/null
