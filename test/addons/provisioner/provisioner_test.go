// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

func storage(size string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
}

// claim is one of 1Gi that asks for 2Gi, and its volume and class.
func claim(class, annotation string) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "data"},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &class, VolumeName: "volume",
			Resources: corev1.VolumeResourceRequirements{Requests: storage("2Gi")},
		},
		Status: corev1.PersistentVolumeClaimStatus{
			Phase: corev1.ClaimBound, Capacity: storage("1Gi"),
			Conditions: []corev1.PersistentVolumeClaimCondition{{Type: "Other", Status: corev1.ConditionTrue}},
		},
	}
	if annotation != "" {
		c.Annotations = map[string]string{resizeAnnotation: annotation}
	}
	return c
}

func TestResizeEndsAsChosen(t *testing.T) {
	for name, c := range map[string]struct {
		class, annotation string
		status, condition string // of the claim
		capacity, volume  string
		failure           string
	}{
		"done":               {class: "standard", capacity: "2Gi", volume: "2Gi"},
		"pending":            {class: "slow", status: "ControllerResizeInProgress", condition: "Resizing", capacity: "1Gi", volume: "1Gi"},
		"annotation first":   {class: "slow", annotation: "done", capacity: "2Gi", volume: "2Gi"},
		"infeasible":         {class: "standard", annotation: "infeasible", status: "ControllerResizeInfeasible", condition: "ControllerResizeError", capacity: "1Gi", volume: "1Gi"},
		"waits for the node": {class: "standard", annotation: "node", status: "NodeResizePending", condition: "FileSystemResizePending", capacity: "1Gi", volume: "2Gi"},
		"unknown":            {class: "standard", annotation: "soon", capacity: "1Gi", volume: "1Gi", failure: `claim ns/data: resize: "soon" is none of`},
		"another's":          {class: "foreign", capacity: "1Gi", volume: "1Gi"},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset(claim(c.class, c.annotation),
				&corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "volume"}, Spec: corev1.PersistentVolumeSpec{Capacity: storage("1Gi")}},
				&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "standard"}, Provisioner: driver},
				&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "slow"}, Provisioner: driver, Parameters: map[string]string{resizeParameter: "pending"}},
				&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "foreign"}, Provisioner: "another"})
			factory := informers.NewSharedInformerFactory(client, 0)
			r, err := newResizer(client, factory)
			if err != nil {
				t.Fatal(err)
			}
			factory.Start(t.Context().Done())
			factory.WaitForCacheSync(t.Context().Done())
			err = r.resize(t.Context(), cache.NewObjectName("ns", "data"))
			if (c.failure == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.failure) {
				t.Fatalf("got error %v, want %q", err, c.failure)
			}
			got, err := client.CoreV1().PersistentVolumeClaims("ns").Get(t.Context(), "data", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			volume, err := client.CoreV1().PersistentVolumes().Get(t.Context(), "volume", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if s := string(got.Status.AllocatedResourceStatuses[corev1.ResourceStorage]); s != c.status {
				t.Errorf("status %q, want %q", s, c.status)
			}
			if s := got.Status.Capacity.Storage().String(); s != c.capacity {
				t.Errorf("capacity %s, want %s", s, c.capacity)
			}
			if s := volume.Spec.Capacity.Storage().String(); s != c.volume {
				t.Errorf("volume of %s, want %s", s, c.volume)
			}
			conditions := ""
			for _, condition := range got.Status.Conditions {
				conditions += " " + string(condition.Type)
			}
			if want := strings.TrimRight(" Other "+c.condition, " "); conditions != want {
				t.Errorf("conditions%s, want%s", conditions, want)
			}
		})
	}
}

func TestResizeThatIsDoneLeavesNoCondition(t *testing.T) {
	c := claim("standard", "")
	now := metav1.Now()
	for _, outcome := range []string{outcomePending, outcomeInfeasible, outcomeNode, outcomeDone} {
		s, err := conditionsOf(outcome, resource.MustParse("2Gi"))
		if err != nil {
			t.Fatal(err)
		}
		if !s.apply(c, now) {
			t.Errorf("%s: nothing changed", outcome)
		}
		if s.apply(c, now) {
			t.Errorf("%s: the second time changed something", outcome)
		}
	}
	if len(c.Status.Conditions) != 1 || c.Status.AllocatedResourceStatuses != nil {
		t.Errorf("left %v %v", c.Status.Conditions, c.Status.AllocatedResourceStatuses)
	}
}

func TestDirectoriesComeAndGo(t *testing.T) {
	d := directories{root: t.TempDir()}
	options := controller.ProvisionOptions{
		StorageClass: &storagev1.StorageClass{}, PVName: "volume", PVC: claim("standard", ""), SelectedNodeName: "node1",
	}
	v, _, err := d.Provision(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(d.root, "node1", "volume"); v.Spec.Local.Path != want {
		t.Errorf("path %s, want %s", v.Spec.Local.Path, want)
	}
	if info, err := os.Stat(v.Spec.Local.Path); err != nil || !info.IsDir() {
		t.Errorf("no directory: %v", err)
	}
	if err := d.Delete(t.Context(), v); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(v.Spec.Local.Path); !os.IsNotExist(err) {
		t.Errorf("still there: %v", err)
	}
	options.SelectedNodeName = ""
	if _, _, err := d.Provision(t.Context(), options); err == nil {
		t.Error("a volume on no node")
	}
}

func TestDeleteLeavesWhatIsNotItsOwn(t *testing.T) {
	d := directories{root: t.TempDir()}
	outside := t.TempDir()
	for _, path := range []string{outside, d.root, filepath.Join(d.root, "node1")} {
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "volume"}}
		v.Spec.Local = &corev1.LocalVolumeSource{Path: path}
		if err := d.Delete(t.Context(), v); err == nil {
			t.Errorf("%s: no error", path)
		}
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}
