module detent.dev/testtools/faultproxy

go 1.26.0
