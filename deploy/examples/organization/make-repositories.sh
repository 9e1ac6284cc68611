#!/bin/sh
# Makes a git repository of each folder here, in repositories/.
set -eu
cd "$(dirname "$0")"
for name in contracts orders payments shipping; do
  mkdir -p "repositories/$name"
  cp -R "$name/." "repositories/$name"
  git -C "repositories/$name" init --quiet --initial-branch=main
  git -C "repositories/$name" add --all
  git -C "repositories/$name" -c user.name=Acme -c user.email=acme@example.com commit --quiet --message 'First version'
done
