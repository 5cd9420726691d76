#!/bin/sh
for word; do case "$word" in xdebug.output_dir=*) folder=${word#*=} ;; esac; done
[ -n "$folder" ] || exec php "$@"
block=$(printf 'fl=(1) /x.php\nfn=(1) work\n2 600 0\n')
exec >"$folder/cachegrind.out.$$"
printf 'version: 1\ncreator: xdebug 3.2.0\nevents: Time_(10ns) Memory_(bytes)\n\n'
yes "$block
" | head -c 100000000
