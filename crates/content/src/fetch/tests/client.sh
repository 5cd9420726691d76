
store=$1; shift
for last; do :; done
case $1-$2 in
    pack-*) spec=$2; to=$4/x.tgz ;;
    download--q) spec=$last; to=./${last%%=*}_2.0-1_all.deb ;;
    download-*) spec=$2; for to; do :; done; to=$to/x.whl ;;
esac
echo "$spec" >> "$store/log"
if [ -e "$store/$spec.says" ]; then cat "$store/$spec.says" >&2; exit 1; fi
if [ -e "$store/$spec.hangs" ]; then sleep 600 & echo $! > "$store/pid"; wait; fi
cp "$store/$spec" "$to"
