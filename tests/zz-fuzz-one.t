it "calls that come faster than they can be printed do not keep it from its end"
for i in 1 2; do
	"$bin/mem" loop 1000000000 '(' malloc 1 64 free 1 ')' & pids="$pids $!" busy="${busy-} $!"
done
run nice -n 10 cudamallocsnoop -kjd 1
# shellcheck disable=SC2086 # numbers
kill -9 $busy
status 0
says 'records lost: the ring buffer was full'

