# wirelab in a container: an ordinary user, no privileges, no network, a root that nobody writes to.
#
#   docker build -t wirelab .                     with nothing but Docker and the Internet; it compiles the kernel
#   make image                                    with the lab of this machine: the same one inside and outside
#   make image-base image BASE=wirelab-base       where no image registry can be reached
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD/results:/results" wirelab run sfp-mismatch
#   docker run --rm -p 127.0.0.1:8080:8080 -v wirelab-class:/class wirelab serve
#
# It builds with BuildKit and without. The base has to be a Debian 13, or something that has python3 and tini.
ARG BASE=debian:trixie-slim

FROM ${BASE} AS base
# hadolint ignore=DL3008
RUN if ! command -v python3 >/dev/null || ! command -v tini >/dev/null; then \
        apt-get update && apt-get install --yes --no-install-recommends python3 tini && \
        apt-get clean && rm -rf /var/lib/apt/lists/*; \
    fi
ENV PATH=/opt/wirelab/bin:$PATH WIRELAB_CACHE=/var/lib/wirelab

# Where a lab is built, and what a devcontainer is made of. With LAB=shipped it is not built but taken from
# dist/image, where `make image` has laid everything; then nothing here asks a network.
FROM base AS build
ARG LAB=built
WORKDIR /usr/src/wirelab
COPY . .
# hadolint ignore=DL3008
RUN if [ "$LAB" = built ]; then \
        apt-get update && \
        PYTHONPATH=src python3 -B -m wirelab.lab.packages venv kernel root test && \
        apt-get install --yes --no-install-recommends ca-certificates git openssh-client sudo && \
        apt-get clean && rm -rf /var/lib/apt/lists/* && \
        echo 'dev ALL=(ALL) NOPASSWD:ALL' >/etc/sudoers.d/dev && \
        useradd --create-home --shell /bin/bash dev; \
    fi
RUN python3 -m venv --without-pip /opt/wirelab && \
    case $LAB in \
    built) \
        python3 -m venv /tmp/pip && \
        /tmp/pip/bin/pip --python /opt/wirelab/bin/python install --no-cache-dir '.[serve]' && \
        rm -rf /tmp/pip && wirelab lab build ;; \
    shipped) \
        set -- dist/image/wheels/pip-*.whl && \
        /opt/wirelab/bin/python "$1/pip" install --no-index --find-links dist/image/wheels --no-cache-dir \
            --disable-pip-version-check --root-user-action=ignore 'wirelab[serve]' && \
        wirelab lab import dist/image/lab ;; \
    *) echo "LAB=$LAB: built or shipped" >&2; exit 2 ;; \
    esac

# Of the lab, what a run needs: the kernel and the root image, and how they are found.
FROM build AS lab
RUN find "$WIRELAB_CACHE" -mindepth 1 -maxdepth 1 ! -name kernel ! -name debian ! -name rootfs ! -name refs \
        -exec rm -rf {} + && \
    rm -f "$WIRELAB_CACHE"/debian/*/*.tar.* "$WIRELAB_CACHE"/debian/*/contents.json

FROM base
ARG BASE
ARG VERSION=
ARG REVISION=
ARG SOURCE=
LABEL org.opencontainers.image.title="wirelab" \
      org.opencontainers.image.description="A network-emulation testbed in virtual time" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.source="$SOURCE" \
      org.opencontainers.image.licenses="Apache-2.0 AND GPL-2.0-only" \
      org.opencontainers.image.base.name="$BASE"
COPY --from=lab /opt/wirelab /opt/wirelab
COPY --from=lab /var/lib/wirelab /var/lib/wirelab
# Whoever runs it may write to these, also where the root is read-only. A lab's memory is in /tmp: Docker's
# /dev/shm is too small and lets nothing be executed. `wirelab serve` keeps its class in /class.
RUN install --directory --mode=1777 /results /class
VOLUME ["/results", "/class", "/tmp"]
# `container` is how systemd's container interface lets a program know where it is.
ENV container=oci TMPDIR=/tmp LANG=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
# A server on a container's own loopback would answer nobody: who gets to it is said by what is published of it.
ENV WIRELAB_HOST=0.0.0.0
EXPOSE 8080
# Below / the default of --out, results, is /results; and what is printed is the path that the caller knows, too.
WORKDIR /
USER 1000:1000
# As process 1, wirelab would hear no signal before it is up.
ENTRYPOINT ["tini", "--", "wirelab"]
CMD ["--help"]
