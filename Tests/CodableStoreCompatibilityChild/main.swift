import Foundation

// The snippets of CodableStoreKit's README, as programs. They run in this process because they keep their data in the
// user's folders, which the process's environment determines. The argument is the name of a program, which prints its
// results. Snippets without output only have to compile.
switch CommandLine.arguments.dropFirst().first {
case "use": try useStore()
case "find": try findAfterRelaunch()
case "engines": try useEngines()
case "containers": try useContainers()
case "default": try chooseDefault()
case "conveniences": try useConveniences()
case "observe": try observeStore()
case "views": try narrowStore()
case "main-loop": observeInMainLoop()
case "blocked": observeWithoutMainLoop()
default: fatalError("No such program: \(CommandLine.arguments)")
}
