#!/bin/sh
# packaging/deb.sh TREE VERSION FOLDER - FOLDER/rooflinectl_VERSION_ARCHITECTURE.deb of what `make install` put below TREE.
#
# It depends on the libraries that the analyzer is linked with.  The collector and the workloads ask for none: they open
# CUDA's own, where there are any, and the package installs where there is no GPU.
set -eu
tree=$(cd "$1" && pwd) version=$2 folder=$(cd "$3" && pwd)
architecture=$(dpkg --print-architecture)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

mkdir -p "$scratch/debian" "$tree/DEBIAN"
printf 'Source: rooflinectl\n\nPackage: rooflinectl\nArchitecture: any\n' >"$scratch/debian/control"
libraries=$(cd "$scratch" && dpkg-shlibdeps -O "$tree/usr/bin/rooflinectl" 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
cat >"$tree/DEBIAN/control" <<END
Package: rooflinectl
Version: $version
Architecture: $architecture
Maintainer: the authors of rooflinectl <rooflinectl@localhost>
Depends: $libraries, gnuplot-nox | gnuplot, fonts-liberation
Section: devel
Priority: optional
Installed-Size: $(du -k -s --exclude=DEBIAN "$tree" | cut -f1)
Description: why a GPU is idle or slow, and what would fix it
 Records what a CUDA program's GPU work does, explains the time in which the
 GPU idles, predicts what CUDA graphs, work queues, launches from the device
 and overlap would bring, and verifies the prediction against a second run.
END
dpkg-deb --root-owner-group --build "$tree" "$folder/rooflinectl_${version}_$architecture.deb"
