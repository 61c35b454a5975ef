package stragglers

import (
	"testing"

	"tracekit/document/training"
)

// TestRoles states what names of process groups of usual programs mean.
func TestRoles(t *testing.T) {
	for name, want := range map[string]string{
		"DATA_PARALLEL_GROUP": training.RoleData, "DATA_PARALLEL_GROUP_WITH_CP": training.RoleData, "mesh_dp_shard": training.RoleData,
		"mesh_fsdp": training.RoleData, "mesh_efsdp": training.RoleData, "mesh_batch": training.RoleData, "mesh_loss_mesh": training.RoleData,
		"EXPERT_DATA_PARALLEL_GROUP": training.RoleData, "TENSOR_MODEL_PARALLEL_GROUP": training.RoleTensor,
		"mesh_tp": training.RoleTensor, "tp:0": training.RoleTensor, "PIPELINE_MODEL_PARALLEL_GROUP": training.RolePipeline,
		"mesh_pp":                     training.RolePipeline,
		"EXPERT_MODEL_PARALLEL_GROUP": training.RoleExpert, "mesh_ep": training.RoleExpert, "CONTEXT_PARALLEL_GROUP": training.RoleContext,
		"MODEL_PARALLEL_GROUP": training.RoleModel, "EMBEDDING_GROUP": training.RoleEmbedding, "POSITION_EMBEDDING_GROUP": training.RoleEmbedding,
		"TENSOR_AND_DATA_PARALLEL_GROUP": "", "default_pg": training.RoleAll, "world:0": training.RoleAll, "12": "", "": "",
	} {
		if got := roleByName(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestMeanings states what names of annotations mean.
func TestMeanings(t *testing.T) {
	for name, want := range map[string]meaning{
		"ProfilerStep#12": {step: 12, stepBy: profilerStep}, "step3": {step: 3, stepBy: namedStep},
		"execute_context_1(48)_generation_3(3)": {stepBy: servedStep}, "execute_new_1_cached_3": {stepBy: servedStep},
		"execute_32_context_0(sq0sk0)_generation_32(sq32sk9)": {stepBy: servedStep}, "step[DECODE bs=32]": {stepBy: servedStep},
		"execute_context": {}, "Training step 7": {step: 7, stepBy: namedStep},
		"## forward ##": {phase: forward}, "Forward 3": {phase: forward}, "backward_step": {phase: backward},
		"DeepSpeedEngine.backward": {phase: backward}, "PP:3F0": {phase: forward}, "PP:1I12": {phase: backward}, "PP:0W2": {phase: weights},
		"PP:3SEND_F0": {}, "I 3": {},
		"W 2": {phase: weights}, "B": {}, "Optimizer.step#Adam.step": {phase: update},
		"Optimizer.zero_grad#Adam.zero_grad": {}, "stepwise": {},
		"DistributedDataParallel.forward": {phase: forward}, "forward_hook": {},
	} {
		if got := meaningOf(name, "user_annotation"); got.phase != want.phase || got.step != want.step || got.stepBy != want.stepBy {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	for _, name := range []string{"Forward 3", "PP:1B3"} {
		if got := meaningOf(name, "user_annotation").batch; got != 3 {
			t.Errorf("%s: micro-batch %d, want 3", name, got)
		}
	}
	if got := meaningOf("PP:6I3", "user_annotation").stage; got != 6 {
		t.Errorf("stage %d, want 6", got)
	}
	if got := meaningOf("Forward 3", "python_function").phase; got != unnamed {
		t.Errorf("a function named Forward is phase %d", got)
	}
	if got := meaningOf("autograd::engine::evaluate_function: MulBackward0", "cpu_op"); got.phase != backward || !got.op {
		t.Errorf("%+v", got)
	}
}

// TestPeriods states after how many elements sequences repeat.
func TestPeriods(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 0, "ab": 0, "aa": 1, "abab": 2, "xabcabc": 3, "abcabcabcab": 3, "xyzabab": 0,
		"aabaab": 3} {
		if got := periodOf([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// TestRuns states that merged runs are in order of launch.
func TestRuns(t *testing.T) {
	for n := range 40 {
		var list []work
		for i := range n {
			list = append(list, work{launch: launch{time: int64(i * 7 % 11)}, start: int64(i), call: -1})
		}
		list = byLaunch(list)
		for i := 1; i < n; i++ {
			if a, b := list[i-1], list[i]; a.time > b.time || a.time == b.time && a.start > b.start {
				t.Fatalf("%d: %v before %v", n, a, b)
			}
		}
	}
}

// TestUnknownGroups states that steps are not known where a good part of what ranks communicate names no group.
func TestUnknownGroups(t *testing.T) {
	for nameless, known := range []bool{true, true, false} {
		r := &ranked{computations: make([]computation, 1), calls: make([]call, 9), steps: 1, nameless: nameless}
		if err := complete([]*ranked{r}); (err == nil) != known {
			t.Errorf("%d of unknown groups, %d of known ones: %v", nameless, len(r.calls), err)
		}
	}
}
