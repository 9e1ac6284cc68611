/**
 * A certificate for `localhost` that signs itself, good until 2126, and its key, which protects nothing. Made by `openssl req -x509 -newkey ec -pkeyopt
 * ec_paramgen_curve:prime256v1 -nodes -days 36500 -subj /CN=localhost -addext subjectAltName=DNS:localhost`.
 */
export const certificate = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBlTCCATugAwIBAgIUMRGhRwOFBzTsV6TY10efgqJbe6AwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTE1MDQxMFoYDzIxMjYxMDI4
MTUwNDEwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQF59a5ArrgR1Hq1UKdEdP0BOG+l7aX6iImzMqBI5aoSQed7yhOO1Wi
wdJyBG1vH9WMQIc+e0QVzw6FvvXmT56lo2kwZzAdBgNVHQ4EFgQUp/XvE4O86ySk
b1OS8RR4pLzpKOYwHwYDVR0jBBgwFoAUp/XvE4O86ySkb1OS8RR4pLzpKOYwFAYD
VR0RBA0wC4IJbG9jYWxob3N0MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwID
SAAwRQIgayj+mvHrcbQqAOcMLm0Z/GM7qDrHCFS+BYU6E2JsjkICIQDw307qkIhK
IzMQY67TQ/h845R2YFHHHPnPjQfopjsy9Q==
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQggX2Iy8LtkNN+xpxH
lMXS9W5l2xvE1+ix6v2gwrz5lKqhRANCAAQF59a5ArrgR1Hq1UKdEdP0BOG+l7aX
6iImzMqBI5aoSQed7yhOO1WiwdJyBG1vH9WMQIc+e0QVzw6FvvXmT56l
-----END PRIVATE KEY-----
`,
};
