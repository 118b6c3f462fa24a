"""Exercises: what students do with wirelab, the same in a terminal and in a browser.

An exercise is read by `wirelab.model.exercise_reader.load_exercise`, which gives an `Assignment`. All that
a student does with it is one `Work`, a JSON document that is checked when it is read; each step is a pure
function that gives the next Work or raises InputError in words for the student. Whoever keeps works, a
folder or a data base, keeps `Work.to_json()` and reads it with `parse_work`.

    exercise = load_exercise("shallow-buffer", Path.cwd())
    figures = drawn(exercise, "networks-1", "ada")          # `draw`: values by name, and the hidden fault
    work = started(exercise, "networks-1", "ada", now)      # `steps`
    next_step(exercise, work)                                # Step("predict", words, name)
    work = sealed(exercise, work, {"download": Predicted("1.2 Gbit/s", "because ...")}, now)

    runner = Runner.of(lab, warn, use_cache=True)
    bench = Bench(runner, Store(folder), cpus, watcher)      # `measure`; `watcher` hears how far a run is
    name, setup = run_asked(exercise, work)                  # refused before the predictions are sealed
    results = bench.measured(exercise, {name: setup}, now)   # {Setup: VariantResult}; cached ones at once
    variant = results[setup]                                 # its digest is None where the lab broke
    work = ran(exercise, work, "run", name, variant.digest, now=now)
    seen(exercise, variant)                                  # `seen`: tables for the student
    list(compared(exercise, work, figures, {name: variant})) # `marks`: prediction beside measurement

    name, setup = experiment_asked(exercise, work, {"module.fifo": "64 KiB"})
    ...                                                      # then as a run, with the kind "experiment"
    choices(exercise, exercise.question("where"), figures)   # `answers`: () where one writes
    work = answered(exercise, work, "where", "module.line", now)
    name, setups = repair_asked(exercise, work, settings)    # the repair and its control, to try them
    work = repaired(exercise, work, settings, now)           # what is handed in
    work = submitted(exercise, work, now)

    needed = Networks(exercise, figures).needed(work)        # `network`
    marks = marked(exercise, work, bench.measured(exercise, needed, now))

Forms: `exercise.said` is the file (`model/exercise.py`); its texts go through `filled_text(text,
figures.values)` of `model/fill.py`, its drawing is `exercise.drawing(figures.values)`.
`exercise.experiments` and `exercise.repairs` are the settings that may be changed, each with its `Scale`
(`words`, `listed`, `low`, `high`, `step`, `quantity`). What a student writes is text: escape it.

Equal `Setup`s are equal networks: a queue of runs needs no more than them, and their results may be kept by
them. Of `figures.values` a student sees all but `exercise.hidden`. With `sees: technician` a student must
get neither the settings, nor the Plan, nor a report of a run.
"""
