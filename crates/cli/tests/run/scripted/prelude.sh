
describe() { echo "{\"id\":$id,\"protocol\":1,\"runtime\":\"native\",\"version\":\"1\",\"codecs\":[]}"; }
good() {
    s='{"batch":1,"cpu_ns":[1.5],"wall_ns":[2.5],"preempted":0}'
    echo "{\"id\":$id,\"decoded\":[4],\"encoded\":[2],\"format\":\"fake\",\"sha256_decoded\":\"d\",\
\"sha256_encoded\":\"$$\",\"verified\":true,\"phases\":{\"encode\":$s,\"decode\":$s}}"
}
next() {
    read -r line || exit 0
    id=${line#*\"id\":}; id=${id%%[,\}]*}
}
