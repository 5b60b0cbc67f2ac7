# Draws build/soak.csv as bench/soak.svg: gnuplot bench/soak.gp
set terminal svg size 900,900 font "sans,11"
set output "bench/soak.svg"
set datafile separator ","
set datafile columnheaders
set multiplot layout 4,2
set xlabel "minutes"
set yrange [0:*]
unset key
do for [name in "rss_mib descriptors threads redis_mib entries outbox sales visitors"] {
  set title name noenhanced
  plot "build/soak.csv" using "minute":name with lines
}
unset multiplot
