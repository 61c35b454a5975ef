package trace

// The dimensions of a grid of workers.
const (
	DimensionTensor   = "TP"
	DimensionPipeline = "PP"
	DimensionData     = "DP"
)

// Or is between the names in that of a group of ranks which may be one of several.
const Or = " or "

// WorkerDimension returns the only dimension in which workers have different numbers, by the names of their processes. Servers of models
// number these, such as VLLM::Worker_PP0_TP1 and sglang::scheduler_DP0_PP1_TP0. It returns "" if names have no numbers, or if workers
// differ in none or in several dimensions. Other dimensions, such as that of experts (EP), divide the workers of these.
func WorkerDimension(processes []string) string {
	differ := ""
	for _, dimension := range [...]string{DimensionTensor, DimensionPipeline, DimensionData} {
		numbers := make(map[string]bool)
		for _, process := range processes {
			numbers[workerNumber(process, dimension)] = true
		}
		switch {
		case len(numbers) == 1:
		case differ != "", len(numbers) < len(processes), numbers[""]:
			return ""
		default:
			differ = dimension
		}
	}
	return differ
}

// workerNumber returns a worker's number in a dimension, "" if its process has none in its name.
func workerNumber(process, dimension string) string {
	numbers := workerNumbers().FindString(process)
	for _, m := range workerPart().FindAllStringSubmatch(numbers, -1) {
		if m[1] == dimension {
			return m[2]
		}
	}
	return ""
}

var (
	workerNumbers = Expression(`(?:_(?:[A-Z]+_)?[A-Z]*P\d{1,9})+$`)
	workerPart    = Expression(`_((?:[A-Z]+_)?[A-Z]*P)(\d{1,9})`)
)
