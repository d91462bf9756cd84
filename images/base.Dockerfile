# The base of the harness images on top of a Debian image of a registry, pinned by digest. The one
# step that may need a network; apt checks what it installs against Debian's keys.
ARG BASE
FROM ${BASE}
ARG PACKAGES
USER 0:0
RUN dpkg-query -W ${PACKAGES} >/dev/null 2>&1 || { \
        apt-get -q update && \
        DEBIAN_FRONTEND=noninteractive \
            apt-get -q install -y --no-install-recommends ${PACKAGES} && \
        apt-get clean && rm -rf /var/lib/apt/lists/*; }
