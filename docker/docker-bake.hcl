# docker buildx bake -f docker/docker-bake.hcl --print
# REGISTRY=registry.example.com REVISION=$(git rev-parse HEAD) docker buildx bake -f docker/docker-bake.hcl --push
variable "REGISTRY" { default = "registry.example.com" }
variable "VERSION" { default = "0.2.0" }
variable "REVISION" { default = "unknown" }

group "default" { targets = ["slim", "distroless"] }

target "image" {
  context    = "."
  dockerfile = "docker/Dockerfile"
  platforms  = ["linux/amd64", "linux/arm64"]
  args       = { VERSION = VERSION, REVISION = REVISION }
  # Where it was built from, and what is in it.
  attest = ["type=provenance,mode=max", "type=sbom"]
}

# With a shell and npm.
target "slim" {
  inherits = ["image"]
  tags     = ["${REGISTRY}/crosswalk:${VERSION}"]
}

# Node and the program alone.
target "distroless" {
  inherits = ["image"]
  args     = { RUNTIME_IMAGE = "gcr.io/distroless/nodejs24-debian12:nonroot" }
  tags     = ["${REGISTRY}/crosswalk:${VERSION}-distroless"]
}
