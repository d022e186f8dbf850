import {
  bundleSkills,
  fsSkillSource,
} from "../../../adapters/deno/skill_directory.ts";
import { skillDirectoryContract } from "../skill_directory_contract.ts";

skillDirectoryContract("deno", { bundleSkills, fsSkillSource });
