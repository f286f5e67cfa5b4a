import EngineProfiler

await Profiler.main()
