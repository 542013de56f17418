#!/bin/sh
# Records every page of pages.tsv again: record-all.sh PROGRAM FOLDER [LOADS]
# The bundled pages were made with 2 loads a setting, kicad-pcbnew with 1.
set -eu
program=$1
folder=$2
loads=${3:-2}
list=$(dirname "$0")/pages.tsv
mkdir -p "$folder"
while IFS="$(printf '\t')" read -r name source licence; do
    echo "$name"
    "$program" corpus record "$source" -o "$folder/$name.json" --licence "$licence" --loads "$loads" \
        --screenshot "$folder/$name.png" --captures "$folder/$name.captures" 2>/dev/null </dev/null ||
        echo "$name: not recorded"
done <"$list"
