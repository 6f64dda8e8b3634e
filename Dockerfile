# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# docker build --build-arg VERSION=v1.2.3 -t ghcr.io/valkey-render/valkey-render:v1.2.3 .
#
# One image with every program, static, on nothing. `make image` makes the same without
# Docker.
FROM --platform=$BUILDPLATFORM docker.io/library/golang:1.26 AS build
ARG TARGETOS=linux
ARG TARGETARCH
ARG VERSION=
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN mkdir /out && CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
	go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$VERSION" -o /out/ ./cmd/*-*

FROM scratch
COPY --from=build /out/ /
USER 65532:65532
ENTRYPOINT ["/valkey-render"]
