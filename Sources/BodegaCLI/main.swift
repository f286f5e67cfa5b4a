import BodegaCommands

await Tool.main()
