package main

import (
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/urfave/cli/v3"

	"github.com/openoriginals/originals/internal/config"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/server"
)

func deployed(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top, "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// parseCommand reads arguments as the program would, and returns the settings
// that it would serve with, after the checks that come before anything is opened.
func parseCommand(t *testing.T, args, environ []string) settings {
	t.Helper()
	var got settings
	root := newRoot()
	root.Action = func(_ context.Context, c *cli.Command) error {
		got = readSettings(c)
		return nil
	}
	for _, c := range root.Commands {
		if c.Name == "serve" {
			c.Action = func(_ context.Context, c *cli.Command) (err error) {
				got, err = readRoleSettings(c)
				return err
			}
		}
	}
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
	if status := run(context.Background(), root, append([]string{"originals"}, args...), environ); status != 0 {
		t.Fatalf("originals %s is refused", strings.Join(args, " "))
	}
	p := &process{settings: got}
	if got.tlsCA != "" && got.tlsCert != "" && got.tlsKey != "" {
		p.tls = new(server.PeerTLS)
	}
	if err := p.check(); err != nil {
		t.Fatal(err)
	}
	if err := p.checkPeers(); err != nil {
		t.Fatal(err)
	}
	return got
}

// compose is what the test reads of deploy/compose.yaml.
type compose struct {
	Services map[string]struct {
		Image    string
		Command  []string
		Profiles []string
		ReadOnly bool     `yaml:"read_only"`
		CapDrop  []string `yaml:"cap_drop"`
		Volumes  []string
		Networks []string
		Ports    []string
	}
	Networks map[string]struct{ Internal bool }
}

func readCompose(t *testing.T) compose {
	t.Helper()
	var c compose
	if err := yaml.Unmarshal([]byte(deployed(t, "compose.yaml")), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestComposeCommandsAreTaken(t *testing.T) {
	c := readCompose(t)
	roles := make(map[string][]string)
	for name, s := range c.Services {
		if s.Image != "originals" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			got := parseCommand(t, s.Command, nil)
			roles[name] = got.roles
			for _, file := range []string{got.sealKeyFile, got.devKey, got.tlsCA, got.tlsCert, got.tlsKey} {
				if file != "" && !slices.ContainsFunc(s.Volumes, func(v string) bool { return strings.HasSuffix(v, ":"+file+":ro") }) {
					t.Errorf("%s is not mounted", file)
				}
			}
		})
		if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) {
			t.Errorf("%s may write or keeps capabilities", name)
		}
	}
	if len(roles) != 4 || len(roles["originals"]) != len(allRoles) {
		t.Errorf("services %v", roles)
	}
	if split := slices.Sorted(slices.Values(slices.Concat(roles["seedpair"], roles["settlement"], roles["gateway"]))); !slices.Equal(split, slices.Sorted(slices.Values(allRoles))) {
		t.Errorf("the profile split has the roles %v", split)
	}
}

func TestComposeKeepsTheStoreAndTheSealKeyFromTheGateway(t *testing.T) {
	c := readCompose(t)
	gateway, redis := c.Services["gateway"], c.Services["redis"]
	if slices.Contains(gateway.Networks, "store") || !c.Networks["store"].Internal || !slices.Equal(redis.Networks, []string{"store"}) {
		t.Error("the gateway reaches Redis, or others do")
	}
	for name, s := range c.Services {
		for _, v := range s.Volumes {
			from, _, _ := strings.Cut(v, ":")
			base := filepath.Base(from)
			if base == "secrets" || base == "ca.key" || base == "seal.key" && (name == "gateway" || name == "settlement") {
				t.Errorf("%s is given %s", name, from)
			}
		}
	}
	for name, s := range c.Services {
		for _, port := range s.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s publishes %s beyond this machine", name, port)
			}
		}
	}
}

// object is what the test reads of a Kubernetes manifest.
type object struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct{ Name string }
	Data       map[string]string
	Spec       struct {
		Template struct {
			Spec struct {
				EnableServiceLinks *bool `yaml:"enableServiceLinks"`
				SecurityContext    struct {
					RunAsNonRoot bool `yaml:"runAsNonRoot"`
				} `yaml:"securityContext"`
				Containers []container
				Volumes    []map[string]any
			}
		}
	}
}

type container struct {
	Args []string
	Env  []struct {
		Name      string
		Value     string
		ValueFrom map[string]any `yaml:"valueFrom"`
	}
	Ports []struct {
		Name          string
		ContainerPort int `yaml:"containerPort"`
	}
	LivenessProbe   probe `yaml:"livenessProbe"`
	ReadinessProbe  probe `yaml:"readinessProbe"`
	SecurityContext struct {
		ReadOnlyRootFilesystem bool `yaml:"readOnlyRootFilesystem"`
	} `yaml:"securityContext"`
	VolumeMounts []mount `yaml:"volumeMounts"`
}

type mount struct {
	Name      string
	MountPath string `yaml:"mountPath"`
}

type probe struct {
	HTTPGet struct{ Path, Port string } `yaml:"httpGet"`
}

func manifests(t *testing.T) (all []object) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(top, "deploy", "kubernetes", "*.yaml"))
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text := deployed(t, filepath.Join("kubernetes", filepath.Base(file)))
		d := yaml.NewDecoder(strings.NewReader(text))
		for {
			var o object
			err := d.Decode(&o)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			all = append(all, o)
		}
	}
	return all
}

func TestKubernetesCommandsAreTaken(t *testing.T) {
	var roles []string
	for _, o := range manifests(t) {
		if o.Kind != "Deployment" {
			continue
		}
		t.Run(o.Metadata.Name, func(t *testing.T) {
			c := o.Spec.Template.Spec.Containers[0]
			var environ []string
			for _, e := range c.Env {
				if e.ValueFrom["fieldRef"] != nil {
					continue // Kubernetes puts it into the arguments
				}
				if e.Value != "" || e.ValueFrom["secretKeyRef"] == nil {
					t.Errorf("%s does not come from a secret", e.Name)
				}
				environ = append(environ, e.Name+"=redis://from-a-secret:6379")
			}
			s := parseCommand(t, c.Args, environ)
			roles = append(roles, s.roles...)
			checkFilesAreMounted(t, c, s)
			checkPod(t, o, s)
		})
	}
	if slices.Sort(roles); !slices.Equal(roles, slices.Sorted(slices.Values(allRoles))) {
		t.Errorf("the manifests have the roles %v", roles)
	}
}

func checkFilesAreMounted(t *testing.T, c container, s settings) {
	t.Helper()
	for _, file := range []string{s.config, s.sealKeyFile, s.tlsCA, s.tlsCert, s.tlsKey} {
		mounted := slices.ContainsFunc(c.VolumeMounts, func(m mount) bool { return filepath.Dir(file) == m.MountPath })
		if file != "" && !mounted {
			t.Errorf("%s is not mounted", file)
		}
	}
}

// checkPod: service links would set variables that begin with ORIGINALS_,
// which the program refuses.
func checkPod(t *testing.T, o object, s settings) {
	t.Helper()
	pod := o.Spec.Template.Spec
	c := pod.Containers[0]
	if pod.EnableServiceLinks == nil || *pod.EnableServiceLinks {
		t.Error("service links set variables that are refused")
	}
	if !pod.SecurityContext.RunAsNonRoot || !c.SecurityContext.ReadOnlyRootFilesystem {
		t.Error("runs as root or may write")
	}
	if c.LivenessProbe.HTTPGet.Path != "/healthz" || c.ReadinessProbe.HTTPGet.Path != "/readyz" {
		t.Errorf("probes %+v %+v", c.LivenessProbe, c.ReadinessProbe)
	}
	listens := make(map[string]string)
	for name, address := range map[string]string{"http": s.http, "grpc": s.grpc, "admin": s.admin, "internal": s.internal} {
		if _, port, err := net.SplitHostPort(address); err == nil {
			listens[name] = port
		}
	}
	for _, p := range c.Ports {
		if listens[p.Name] != strconv.Itoa(p.ContainerPort) {
			t.Errorf("port %s is %d, the command listens at %s", p.Name, p.ContainerPort, listens[p.Name])
		}
	}
}

func TestNoSecretStandsInAManifest(t *testing.T) {
	hexKey := regexp.MustCompile(`[0-9a-fA-F]{64}|BEGIN [A-Z ]*PRIVATE KEY`)
	err := filepath.WalkDir(filepath.Join(top, "deploy"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == "secrets" {
				return filepath.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(path)
		if found := hexKey.Find(text); found != nil {
			t.Errorf("%s holds %q", path, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range manifests(t) {
		if o.Kind == "Secret" {
			t.Errorf("%s is a secret in a file", o.Metadata.Name)
		}
	}
}

func TestKubernetesConfigurationIsTaken(t *testing.T) {
	for _, o := range manifests(t) {
		if o.Kind != "ConfigMap" {
			continue
		}
		file := filepath.Join(t.TempDir(), "house.yaml")
		if err := os.WriteFile(file, []byte(o.Data["house.yaml"]), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(file)
		if err != nil || len(c.Operators) != 1 || len(c.Currencies) == 0 {
			t.Error(c, err)
		}
		return
	}
	t.Error("no ConfigMap")
}

func TestDockerfileBuildsAndRunsTheProgram(t *testing.T) {
	text := deployed(t, "Dockerfile")
	mod, err := os.ReadFile(filepath.Join(top, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(mod))[1]
	for _, want := range []string{
		"FROM golang:" + version + " AS build\n", "CGO_ENABLED=0 go build", " ./services/originals\n",
		"distroless/static-debian12:nonroot\n", "USER 65532:65532\n", "ENTRYPOINT [\"/originals\"]\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^COPY (?:--from=\S+ )?(.+) \S+$`).FindAllStringSubmatch(text, -1) {
		for name := range strings.FieldsSeq(m[1]) {
			if _, err := os.Stat(filepath.Join(top, name)); err != nil && name != "/originals" {
				t.Error(err)
			}
		}
	}
}

// TestRedisConfKeepsEveryAnsweredBet starts a real Redis with the file, and
// asks it and the store's own check.
func TestRedisConfKeepsEveryAnsweredBet(t *testing.T) {
	conf, err := filepath.Abs(filepath.Join(top, "deploy", "redis.conf"))
	if err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	cmd := exec.Command("redis-server", conf, "--port", port, "--dir", t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	client, err := redisledger.Dial("redis://127.0.0.1:" + port)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for deadline := time.Now().Add(30 * time.Second); client.Ping(t.Context()).Err() != nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("Redis does not answer")
		}
	}
	for name, want := range map[string]string{
		"maxmemory-policy": "noeviction", "appendonly": "yes", "appendfsync": "always",
		"no-appendfsync-on-rewrite": "no", "protected-mode": "yes", "bind": "127.0.0.1 -::1",
	} {
		if got := client.ConfigGet(t.Context(), name).Val()[name]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	warnings, err := redisledger.New(client, redisledger.Options{}).Check(t.Context())
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "appendfsync cannot be seen") {
		t.Error(warnings, err)
	}
}
